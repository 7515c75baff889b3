"""Pure mathematics on NumPy and SciPy: no input or output, no clock, no global randomness."""
