"""What a map shows and says, on every medium: numbers, bands, clarity, words."""
