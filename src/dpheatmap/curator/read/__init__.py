"""Readers of tables, files and data frames, each of which reads every record by itself."""
