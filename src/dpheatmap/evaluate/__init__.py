"""Evaluation of heatmaps: metrics, baselines, rival methods, and the audit."""
