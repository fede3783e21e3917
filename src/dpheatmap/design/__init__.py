"""What is measured, with which part of the budget, as a function of published values alone. Checked by the core."""
