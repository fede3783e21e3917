"""The code that makes one release epsilon-DP; `docs/explanation/core.md` leads through it."""
