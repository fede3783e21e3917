"""Where the one aggregation runs."""
