"""The ledger, by which all releases together stay within the limit of a population."""
