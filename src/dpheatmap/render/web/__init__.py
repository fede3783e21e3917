"""The interactive map: one page that carries all it needs."""
