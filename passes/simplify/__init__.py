"""Simplification: canonicalisation, common subexpressions and dead code."""
