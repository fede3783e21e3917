"""The posterior of where people are, given a noisy tree."""
