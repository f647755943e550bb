"""The math library: every function once, as straight-line code for all targets.

A function takes :class:`~lamina.passes.scalars.Scalars` and values of element type ``f32`` or
``f64``, and emits operations; ``f16`` and ``bf16`` are computed in ``f32`` by the caller. Nothing
calls libm, nothing relies on fast-math, and ``f32`` functions use no ``f64``. Special values follow
IEEE 754 and NumPy; subnormal numbers are arguments and results like any other.
"""

from __future__ import annotations

from collections.abc import Callable

from ..scalars import Value
from .error_function import erf, erfinv
from .exponential import exp, expm1, sigmoid
from .hyperbolic import arccosh, arcsinh, arctanh, cosh, sinh, tanh
from .inverse_trigonometric import arccos, arcsin, arctan, arctan2
from .logarithm import log, log1p, log2, log10, logaddexp
from .power import power
from .quotient import floor_divide, remainder
from .roots import rsqrt
from .trigonometric import cos, sin, tan

FUNCTIONS: dict[str, Callable[..., Value]] = {
    function.__name__: function
    for function in (
        arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, cos, cosh, erf, erfinv, exp,
        expm1, floor_divide, log, log10, log1p, log2, logaddexp, power, remainder, rsqrt, sigmoid,
        sin, sinh, tan, tanh,
    )
}  # fmt: skip
"""The functions by the names of their primitives."""

STATED_ULPS: dict[str, dict[str, float]] = {
    "arccos": {"f32": 1.5, "f64": 1.5},
    "arccosh": {"f32": 2.0, "f64": 2.0},
    "arcsin": {"f32": 2.0, "f64": 2.5},
    "arcsinh": {"f32": 2.0, "f64": 2.5},
    "arctan": {"f32": 2.0, "f64": 2.5},
    "arctan2": {"f32": 2.0, "f64": 2.5},
    "arctanh": {"f32": 2.0, "f64": 2.5},
    "cos": {"f32": 2.0, "f64": 2.0},
    "cosh": {"f32": 2.0, "f64": 2.0},
    "erf": {"f32": 1.5, "f64": 1.5},
    "erfinv": {"f32": 2.5, "f64": 4.0},
    "exp": {"f32": 1.0, "f64": 1.0},
    "expm1": {"f32": 1.5, "f64": 2.0},
    "floor_divide": {"f32": 0.5, "f64": 0.5},
    "log": {"f32": 1.0, "f64": 1.0},
    "log10": {"f32": 1.5, "f64": 1.5},
    "log1p": {"f32": 1.5, "f64": 1.5},
    "log2": {"f32": 2.0, "f64": 2.0},
    "logaddexp": {"f32": 2.5, "f64": 2.5},
    "power": {"f32": 1.5, "f64": 2.0},
    "remainder": {"f32": 0.5, "f64": 0.5},
    "rsqrt": {"f32": 1.5, "f64": 1.5},
    "sigmoid": {"f32": 2.0, "f64": 2.0},
    "sin": {"f32": 2.0, "f64": 2.0},
    "sinh": {"f32": 2.0, "f64": 2.5},
    "tan": {"f32": 2.5, "f64": 3.0},
    "tanh": {"f32": 1.5, "f64": 2.0},
}
"""Bounds on the error of a result, in units of its last place; docs/numerics.md says of what."""
