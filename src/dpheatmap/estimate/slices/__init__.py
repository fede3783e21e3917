"""The estimate of slices that are alike: one posterior for all of them."""
