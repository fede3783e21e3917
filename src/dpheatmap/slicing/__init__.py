"""Public slices of a release: hours, weekdays, days, or groups of a list; and the clocks that times are read by."""
