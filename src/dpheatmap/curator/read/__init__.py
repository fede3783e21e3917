"""Whose row is it? Every way in reads each record by itself."""
