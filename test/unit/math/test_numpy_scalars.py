"""The fused multiply-add that the measurements rest on is itself exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from measure import F32, F64, special_values, stratified
from numpy_scalars import NumpyScalars


def exact_fma(a: float, b: float, c: float, dtype: np.dtype) -> float:
    """The rounded exact value of finite operands; f32 by comparing with its neighbours."""
    value = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        double = float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
    if dtype == F64:
        return double
    with np.errstate(over="ignore"):
        guess = np.float32(double)
        candidates = [guess, *(np.nextafter(guess, np.float32(s)) for s in (-np.inf, np.inf))]
    finite = [c for c in candidates if np.isfinite(c)]
    distances = [(abs(Fraction(float(c)) - value), int(c.view(np.int32)) & 1, c) for c in finite]
    return float(min(distances)[2]) if np.isfinite(guess) else float(guess)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_fma_is_rounded_once(dtype):
    generator = np.random.default_rng(0)
    a, b, c = (generator.permutation(stratified(dtype, 2, seed)[:1024]) for seed in range(3))
    # Sums that cancel, and products that lie near half a unit of the other term.
    near = generator.uniform(1, 2, (2, 2000)).astype(dtype)
    product = near[0] * near[1]
    half = np.spacing(product) * dtype.type(2.0 ** generator.integers(-2, 30)) / 2
    a = np.concatenate([a, near[0], near[0], near[0]])
    b = np.concatenate([b, near[1], near[1], half])
    c = np.concatenate([c, -product, product * dtype.type(2**20), near[1]])
    with np.errstate(all="ignore"):
        got = NumpyScalars().fma(a, b, c)
    want = [exact_fma(x, y, z, dtype) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist())]
    np.testing.assert_array_equal(got, np.array(want, dtype))


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_fma_of_special_values(dtype):
    values = special_values(dtype)
    a, b, c = (grid.ravel() for grid in np.meshgrid(values, values, values))
    with np.errstate(all="ignore"):
        got = NumpyScalars().fma(a, b, c)
        plain = np.where(np.isfinite(a) & np.isfinite(b), 0 * a * b, a * b) + c
    unusual = ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)) | (a == 0) | (b == 0)
    np.testing.assert_array_equal(got[unusual], plain[unusual])
    zero = unusual & (plain == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(plain[zero]))


def test_upper_halves_of_products():
    s = NumpyScalars()
    generator = np.random.default_rng(0)
    for dtype, bits in ((np.int32, 32), (np.int64, 64)):
        limits = np.iinfo(dtype)
        a, b = generator.integers(limits.min, limits.max, (2, 1000), dtype=dtype)
        want = [(x % 2**bits) * (y % 2**bits) >> bits for x, y in zip(a.tolist(), b.tolist())]
        got = [value % 2**bits for value in s.mulhui(a, b).tolist()]
        assert got == want
