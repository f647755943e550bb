"""What users call: arrays, functions on them, and transforms of functions."""
