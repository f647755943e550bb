"""erf and erfinv.

Below 1, erf is an odd polynomial; above, erfc(t) is the fourth power of a polynomial that
approximates its fourth root. That root is smooth and falls slowly, so that a short polynomial gives
the absolute error that 1 - erfc(t) needs, and neither an exponential nor a division is left.
(Fitting a root of erfc is C. Hastings' idea, "Approximations for Digital Computers", 1955, formula
7.1.28 of Abramowitz & Stegun, there for a reciprocal.)
"""

from __future__ import annotations

from ..scalars import Scalars, Value
from .logarithm import log
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

ERFINV_F32 = {
    "center": (
        0.8862269520759583, 0.23201343417167664, 0.01155129075050354, -0.0023412471637129784,
        -0.0001181845145765692, 3.744170317077078e-05, 7.2952689151861705e-06,
        -2.9264147087815218e-06, 3.8517862321896246e-07, -2.4451255242752268e-08,
        6.334323621182136e-10,
    ),
    "tail": (
        3.150883674621582, 0.15164920687675476, -0.003340337425470352, 0.00014104008732829243,
        -6.813087111368077e-06, 2.9642220056302904e-07, -9.600445771695831e-09,
        -8.051423416866044e-10, 3.510990942423575e-10, -3.0670806172583553e-11,
    ),
}  # fmt: skip
"""erfinv(x) / x in w = -log(1 - x**2) for w <= 6.125, in w - 11 above, relative error."""

ERFINV_F64 = {
    "center": (
        1.6536545626831027, 0.24015818242558767, -0.006033670871427579, -0.0007407025341486365,
        0.00018673420802350964, -1.3882523409907391e-05, -1.365469183199912e-06,
        4.2347883637216737e-07, -2.9070383816892016e-08, -4.1126737512698194e-09,
        1.0512189092823986e-09, -5.413749285952004e-11, -1.2977113924502411e-11,
        2.629046340725738e-12, -8.113971393364204e-14, -3.976067315555666e-14,
        6.5909005495319954e-15, -6.902705557555394e-17, -1.2974447033569702e-16,
        1.7635722396521844e-17, 1.1315218536091202e-18, -4.342330350590485e-19,
        -7.658451162935318e-22, 4.738750263350807e-21,
    ),
    "tail": (
        3.0838856104922203, 1.0052589676941586, 0.00537091455366312, -0.003751208507500843,
        0.0024914420925535364, -0.0016882755579392306, 0.00095328944612585,
        -0.00035503749674147255, 2.4030490713928407e-05, 6.828469929453779e-05,
        -4.73149866058903e-05, 1.247585405342236e-05, 2.9134967251079256e-06,
        -4.014987287970495e-06, 1.52050161594355e-06, 1.944068245826696e-08,
        -2.922505441229618e-07, 9.022965484527625e-08, 9.046119241739668e-09,
    ),
    "far tail": (
        4.849906401408584, 1.010300464864544, -0.00013871931835930218, -0.00021503011975572176,
        7.599527736879589e-05, -1.9681771830529343e-05, 4.526060454321118e-06,
        -9.930215861378877e-07, 2.2901194993698593e-07, -6.758411603045023e-08,
        2.913445683164684e-08, -1.519934355430136e-08, 7.630375827019342e-09,
        -3.5338415525661702e-09, 1.4991117791491342e-09, -4.007214783251439e-10,
        -2.5042922684083916e-11, 3.3996804509016145e-11,
    ),
}  # fmt: skip
"""erfinv(x) / x in w - 3.125 for w <= 6.25, in sqrt(w) - 3.25 to 16, in sqrt(w) - 5 above."""

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


def erfinv(s: Scalars, x: Value) -> Value:
    """The inverse of erf: x times polynomials in w = -log(1 - x**2), by ranges of w.

    M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2011, with
    coefficients of our own. Infinite at -1 and 1, NaN outside.
    """
    element = s.element(x)
    one = s.constant(1.0, element)
    w = s.negf(log(s, s.fma(s.negf(x), x, one)))
    ratio = (_erfinv_ratio_f32 if element == "f32" else _erfinv_ratio_f64)(s, w)
    at_one = s.cmpf("oeq", s.absf(x), one)
    return s.mulf(s.select(at_one, s.constant(float("inf"), element), ratio), x)


def _erfinv_ratio_f32(s: Scalars, w: Value) -> Value:
    center = horner(s, w, ERFINV_F32["center"])
    tail = horner(s, s.subf(w, s.constant(11.0, "f32")), ERFINV_F32["tail"])
    return s.select(s.cmpf("ogt", w, s.constant(6.125, "f32")), tail, center)


def _erfinv_ratio_f64(s: Scalars, w: Value) -> Value:
    center = horner(s, s.subf(w, s.constant(3.125, "f64")), ERFINV_F64["center"])
    in_tail = s.cmpf("ogt", w, s.constant(6.25, "f64"))

    def tails() -> tuple[Value]:
        root = s.sqrt(w)
        near = horner(s, s.subf(root, s.constant(3.25, "f64")), ERFINV_F64["tail"])
        far = horner(s, s.subf(root, s.constant(5.0, "f64")), ERFINV_F64["far tail"])
        return (s.select(s.cmpf("ogt", w, s.constant(16.0, "f64")), far, near),)

    return s.replace_where(in_tail, (center,), tails)[0]
