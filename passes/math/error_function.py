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
    "f64": (
        0.12837916709551256, -0.37612638903183343, 0.1128379167093695, -0.026866170641959203,
        0.005223977596737303, -0.0008548325485122169, 0.00012055280502127556,
        -1.4924465784296366e-05, 1.6444152827692635e-06, -1.6184012031621866e-07,
        1.3616804423940851e-08, -7.608035138053383e-10,
    ),
}  # fmt: skip
"""erf(x) / x - 1 in x**2 for |x| <= 1, error relative to erf(x)."""

ERFC_ROOT = {
    "f32": (
        1.0021904706954956, -0.2936500608921051, -0.09317625313997269, -0.017688708379864693,
        0.04396775737404823, -0.01282278262078762, 0.0007964029791764915, 0.00017475348431617022,
        -2.2057296519051306e-05,
    ),
    "f64": (
        0.26152240610282074, -0.2888620111332115, 0.09913446629285338, 0.00689692053975029,
        -0.012226189050540072, 0.0015647448586838288, 0.0007508335415310058,
        -0.00021932846760658103, -1.7777369200032518e-05, 1.3916253884180628e-05,
        -5.793204340238774e-07, -5.49010296558664e-07, 6.590921282617546e-08,
        1.61303256184946e-08, -3.4846683574731012e-09, -3.1519898733318894e-10,
        1.3880027943960732e-10, -3.0695364053028172e-12, -3.234691922753718e-12,
        4.5189034643942125e-13, -1.8605179570161178e-14,
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
