"""Transforms of functions: derivatives, batching, and functions with rules of their own."""
