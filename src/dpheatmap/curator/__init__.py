"""The private side of the wall: the only code that sees people's data."""
