"""Samples, references, and errors in units in the last place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from numpy_scalars import NumpyScalars
from scipy import special

from lamina.passes import math

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
UNARY = sorted(set(math.FUNCTIONS) - {
    "arctan2", "floor_divide", "logaddexp", "power", "remainder",
})  # fmt: skip
PRECISION = 200
"""Bits of mpmath's numbers."""


def compute(name: str, *operands: np.ndarray) -> np.ndarray:
    """A function of the library on NumPy's scalars."""
    with np.errstate(all="ignore"):
        return np.asarray(math.FUNCTIONS[name](NumpyScalars(), *operands))


# References

REFERENCES_F64: dict[str, Callable[..., np.ndarray]] = {
    "erf": special.erf,
    "erfinv": lambda x: np.copysign(special.erfinv(x), x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
"""What NumPy has not under the function's own name."""


def reference_of_f32(name: str, *operands: np.ndarray) -> np.ndarray:
    """The values in f64: its error is far below what is measured in f32."""
    function = REFERENCES_F64.get(name) or getattr(np, name)
    with np.errstate(all="ignore"):
        return function(*(operand.astype(np.float64) for operand in operands))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _logaddexp(a: Any, b: Any) -> Any:
    larger, smaller = max(a, b), min(a, b)
    return larger if mpmath.isinf(larger) else larger + mpmath.log1p(mpmath.exp(smaller - larger))


EXACT: dict[str, Callable[..., Any]] = {
    "arccos": mpmath.acos, "arccosh": mpmath.acosh, "arcsin": mpmath.asin,
    "arcsinh": mpmath.asinh, "arctan": mpmath.atan, "arctan2": mpmath.atan2,
    "arctanh": mpmath.atanh, "erfinv": mpmath.erfinv, "log2": lambda x: mpmath.log(x, 2),
    "logaddexp": _logaddexp, "power": mpmath.power, "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sigmoid": _sigmoid,
}  # fmt: skip
"""Functions whose name in mpmath is another."""


def exact(name: str, *operands: float) -> Any:
    """The value to some hundred bits, for finite operands inside the domain."""
    with mpmath.workprec(PRECISION):
        return EXACT.get(name, getattr(mpmath, name, None))(*map(mpmath.mpf, operands))


DOMAINS: dict[str, Callable[[Any], Any]] = {
    "arccos": lambda x: abs(x) <= 1,
    "arccosh": lambda x: x >= 1,
    "arcsin": lambda x: abs(x) <= 1,
    "arctanh": lambda x: abs(x) < 1,
    "erfinv": lambda x: abs(x) < 1,
    "log": lambda x: x > 0,
    "log10": lambda x: x > 0,
    "log1p": lambda x: x > -1,
    "log2": lambda x: x > 0,
    "rsqrt": lambda x: x > 0,
}
"""Where a function is finite; the others are everywhere, overflow aside."""


# Samples


def stratified(dtype: np.dtype, count: int, seed: int = 0) -> np.ndarray:
    """Floats of both signs from every binade, the subnormal ones and the binades' ends too."""
    bits = np.finfo(dtype).nmant
    unsigned = np.dtype(f"u{dtype.itemsize}")
    exponents = np.arange(2 ** (8 * dtype.itemsize - 1 - bits) - 1, dtype=unsigned)
    generator = np.random.default_rng(seed)
    shape = (len(exponents), count)
    fractions = generator.integers(0, 2**bits, shape, dtype=np.uint64).astype(unsigned)
    fractions[:, 0], fractions[:, 1] = 0, 2**bits - 1
    positive = ((exponents[:, None] << unsigned.type(bits)) | fractions).ravel().view(dtype)
    return np.concatenate([positive, -positive])


def moderate(dtype: np.dtype, count: int, seed: int = 1) -> np.ndarray:
    """Floats where functions are neither flat nor linear: uniform, and close to 1."""
    generator = np.random.default_rng(seed)
    parts = [generator.uniform(-bound, bound, count) for bound in (1.0, 8.0, 100.0)]
    near = 1 + np.ldexp(generator.uniform(-1, 1, count), -generator.integers(1, 24, count))
    return np.concatenate([*parts, near, -near]).astype(dtype)


def special_values(dtype: np.dtype) -> np.ndarray:
    """Zeros, ones, infinities, NaN, and the ends of the format's ranges, of both signs."""
    limits = np.finfo(dtype)
    positive = [
        0.0, 0.5, 1.0, 2.0, 3.0, np.inf, np.nan, limits.max, limits.smallest_normal,
        limits.smallest_subnormal, limits.eps,
    ]  # fmt: skip
    values = np.array(positive, dtype)
    return np.concatenate([values, -values])


# Errors


def errors_in_ulps(result: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """|result - reference| in units in the last place of the reference, in the result's format.

    An infinite or overflowing value counts as the power of two behind the largest number. Equal
    NaN have no error, unequal ones an infinite one, and so have zeros of the wrong sign.
    """
    limits = np.finfo(result.dtype)
    beyond = 2.0 * float(2 ** (limits.maxexp - 1)) if result.dtype == F32 else np.inf
    with np.errstate(all="ignore"):
        value = np.clip(result.astype(np.float64), -beyond, beyond)
        clipped = np.clip(reference, -beyond, beyond)
        exponent = np.frexp(clipped)[1] - 1
        place = np.maximum(exponent, limits.minexp) - limits.nmant
        errors = np.ldexp(np.abs(value - clipped), -place)
    errors[value == clipped] = 0
    both_nan = np.isnan(result) & np.isnan(reference)
    wrong = np.isnan(errors) | (np.signbit(result) != np.signbit(reference))
    return np.where(both_nan, 0.0, np.where(wrong, np.inf, errors))


def errors_of_f64(name: str, result: np.ndarray, *operands: np.ndarray) -> np.ndarray:
    """The same for f64 results and mpmath's values, at finite operands inside the domain."""
    errors = []
    largest = mpmath.mpf(2) ** 1024
    with mpmath.workprec(PRECISION):
        for value, *arguments in zip(result.tolist(), *(o.tolist() for o in operands)):
            want = exact(name, *arguments)
            size = max(abs(want), min_reference(name, arguments))
            place = mpmath.mpf(2) ** (max(int(mpmath.mag(size)) - 1, -1022) - 52) if size else 1
            got = mpmath.mpf(value) if abs(value) < np.inf else mpmath.sign(value) * largest
            want = max(min(want, largest), -largest)
            errors.append(float(abs(got - want) / place))
    return np.array(errors)


def min_reference(name: str, operands: list[float]) -> float:
    """The least size that an error is measured by: logaddexp's terms may cancel."""
    return max(map(abs, operands)) if name == "logaddexp" else 0.0
