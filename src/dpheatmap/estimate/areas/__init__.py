"""How many people are in areas: polygons of any source, their parts of cells, and their numbers with intervals."""
