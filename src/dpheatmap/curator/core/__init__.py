"""Is one release epsilon-DP? Everything that the answer rests on."""
