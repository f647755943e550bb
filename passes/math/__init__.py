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
    "arccos": {"f32": 1.12, "f64": 1.5},
    "arccosh": {"f32": 2.26, "f64": 2.5},
    "arcsin": {"f32": 1.9, "f64": 2.5},
    "arcsinh": {"f32": 2.03, "f64": 2.5},
    "arctan": {"f32": 1.57, "f64": 2.5},
    "arctan2": {"f32": 2.0, "f64": 2.5},
    "arctanh": {"f32": 1.95, "f64": 2.5},
    "cos": {"f32": 1.61, "f64": 2.0},
    "cosh": {"f32": 1.83, "f64": 2.0},
    "erf": {"f32": 1.51, "f64": 2.0},
    "erfinv": {"f32": 2.46, "f64": 4.0},
    "exp": {"f32": 0.9, "f64": 1.0},
    "expm1": {"f32": 1.44, "f64": 2.0},
    "floor_divide": {"f32": 0.5, "f64": 0.5},
    "log": {"f32": 1.01, "f64": 1.5},
    "log10": {"f32": 1.49, "f64": 2.0},
    "log1p": {"f32": 1.7, "f64": 2.0},
    "log2": {"f32": 1.81, "f64": 2.0},
    "logaddexp": {"f32": 2.5, "f64": 2.5},
    "power": {"f32": 1.5, "f64": 2.0},
    "remainder": {"f32": 0.5, "f64": 0.5},
    "rsqrt": {"f32": 1.5, "f64": 1.5},
    "sigmoid": {"f32": 2.0, "f64": 2.5},
    "sin": {"f32": 1.61, "f64": 2.0},
    "sinh": {"f32": 1.83, "f64": 2.5},
    "tan": {"f32": 3.01, "f64": 3.5},
    "tanh": {"f32": 1.59, "f64": 2.0},
}
"""Bounds on the error of a result, in units of its last place; docs/numerics.md says of what.

Those of ``f32`` functions of one argument are their largest errors over all arguments, rounded up.
"""
