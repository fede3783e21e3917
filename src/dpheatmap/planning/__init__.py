"""Before any data is read: expected errors, bounds, and advice."""
