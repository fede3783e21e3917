"""The interactive map: one page that contains all it needs."""
