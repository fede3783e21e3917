"""Files of maps and tables, one module a format."""
