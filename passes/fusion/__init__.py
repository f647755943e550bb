"""Fusion: which ops become one kernel, and the pass that outlines them."""
