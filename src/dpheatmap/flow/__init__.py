"""The least cost of moving mass on a grid: what the earth mover's distance and the dense reconstruction share."""
