"""The math library: every function once, as straight-line code for all targets.

A function takes :class:`~lamina.passes.scalars.Scalars` and values of element type ``f32`` or
``f64``, and emits operations; ``f16`` and ``bf16`` are computed in ``f32`` by the caller. Nothing
calls libm, nothing relies on fast-math, and ``f32`` functions use no ``f64``. Special values follow
IEEE 754 and NumPy; subnormal numbers are arguments and results like any other.
"""

from __future__ import annotations

from collections.abc import Callable

from ..scalars import Value
from .error_function import erf
from .exponential import exp, expm1, sigmoid
from .hyperbolic import tanh
from .logarithm import log
from .roots import rsqrt

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "erf": erf,
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "rsqrt": rsqrt,
    "sigmoid": sigmoid,
    "tanh": tanh,
}
"""The functions by the names of their primitives."""

STATED_ULPS: dict[str, dict[str, float]] = {
    "erf": {"f32": 1.5, "f64": 2.0},
    "exp": {"f32": 1.0, "f64": 1.0},
    "expm1": {"f32": 1.5, "f64": 2.0},
    "log": {"f32": 1.0, "f64": 1.0},
    "rsqrt": {"f32": 1.5, "f64": 1.5},
    "sigmoid": {"f32": 2.5, "f64": 2.5},
    "tanh": {"f32": 2.5, "f64": 2.5},
}
"""Bounds on the error of a result, in units of its last place; docs/numerics.md explains them."""
