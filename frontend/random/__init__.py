"""``lamina.random``: random numbers from explicit keys, or from a state that each thread has."""

from .distributions import (
    bernoulli,
    bits,
    categorical,
    gumbel,
    laplace,
    normal,
    randint,
    truncated_normal,
    uniform,
)
from .state import RandomState, key, seed, split, state

__all__ = [
    "RandomState",
    "bernoulli",
    "bits",
    "categorical",
    "gumbel",
    "key",
    "laplace",
    "normal",
    "randint",
    "seed",
    "split",
    "state",
    "truncated_normal",
    "uniform",
]
