"""Files, connections and compiled kernels: what is about no map."""
