"""Measurements of Lamina beside other array libraries; ``python test/benchmarks/run.py``."""
