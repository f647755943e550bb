"""erf.

Below 1 an odd polynomial; above, erfc(t) is the fourth power of a polynomial that approximates its
fourth root. That root is smooth and falls slowly, so that a short polynomial gives the absolute
error that 1 - erfc(t) needs, and neither an exponential nor a division is left. (Fitting a root of
erfc is C. Hastings' idea, "Approximations for Digital Computers", 1955, formula 7.1.28 of
Abramowitz & Stegun, there for a reciprocal.)
"""

from __future__ import annotations

from ..scalars import Scalars, Value
from .polynomials import horner

ERF_SMALL = {
    "f32": (
        0.12837916612625122, -0.3761262595653534, 0.11283578723669052, -0.026853347197175026,
        0.005187162198126316, -0.0007997851935215294, 7.806891517248005e-05,
    ),
}  # fmt: skip
"""erf(x) / x - 1 in x**2 for |x| <= 1, error relative to erf(x)."""

ERFC_ROOT = {
    "f32": (
        1.0021904706954956, -0.2936500608921051, -0.09317625313997269, -0.017688708379864693,
        0.04396775737404823, -0.01282278262078762, 0.0007964029791764915, 0.00017475348431617022,
        -2.2057296519051306e-05,
    ),
}  # fmt: skip
"""erfc(t)**(1/4) for 1 <= t <= 4 (f32) or 6 (f64, in t - 2), weighted by its third power."""

LARGEST = {"f32": 4.0, "f64": 6.0}
"""Arguments from which on erf rounds to 1."""


def erf(s: Scalars, x: Value) -> Value:
    """2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
    element = s.element(x)
    one = s.constant(1.0, element)
    magnitude = s.absf(x)
    z = s.mulf(x, x)
    small = s.fma(horner(s, z, ERF_SMALL[element]), x, x)
    t = s.minnum(s.constant(LARGEST[element], element), magnitude)
    if element == "f64":
        t = s.subf(t, s.constant(2.0, element))
    root = horner(s, t, ERFC_ROOT[element])
    square = s.mulf(root, root)
    large = s.fma(s.negf(square), square, one)
    large = s.copysign(large, x)
    return s.select(s.cmpf("olt", magnitude, one), small, large)
