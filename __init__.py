"""Lamina: an MLIR-based compiler toolkit for array programs."""
