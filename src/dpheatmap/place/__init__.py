"""Where: public places, and the quadtree of cells laid over them."""
