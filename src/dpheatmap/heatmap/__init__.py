"""Values on a grid: heatmaps, their smoothing, and differences between them."""
