"""Pictures: one drawing stack for maps, places and differences."""
