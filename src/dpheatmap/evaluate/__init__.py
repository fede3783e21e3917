"""Judging heatmaps: metrics, baselines, rivals."""
