"""Is one release epsilon-DP? Everything that the answer rests on; `docs/explanation/core.md` leads through it."""
