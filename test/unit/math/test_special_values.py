"""Zeros, infinities, NaN, the formats' ends, points with exact values, and domains."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from measure import (
    F32,
    F64,
    UNARY,
    compute,
    errors_in_ulps,
    reference_of_f32,
    special_values,
    stratified,
)  # fmt: skip
from numpy_scalars import NumpyScalars

from lamina.passes.math import FUNCTIONS, STATED_ULPS

each_dtype = pytest.mark.parametrize("dtype", [F32, F64], ids=str)


@each_dtype
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name, dtype):
    x = special_values(dtype)
    errors = errors_in_ulps(compute(name, x), reference_of_f32(name, x))
    # For f64 the reference is only NumPy's, whose own error is a unit or two.
    allowed = STATED_ULPS[name][{4: "f32", 8: "f64"}[dtype.itemsize]] + (dtype == F64) * 2
    assert (errors <= allowed).all(), x[errors > allowed]


REFERENCES = {
    "arctan2": np.arctan2, "logaddexp": np.logaddexp, "power": np.power,
    "remainder": np.remainder, "floor_divide": lambda a, b: np.floor(a / b),
}  # fmt: skip


@each_dtype
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_two_operands(name, dtype):
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 1e10, np.inf, np.nan]
    limits = np.finfo(dtype)
    values += [limits.max, limits.smallest_normal, limits.smallest_subnormal, 1 - limits.epsneg]
    x = np.array(values, dtype)
    a, b = (grid.ravel() for grid in np.meshgrid(np.r_[x, -x], np.r_[x, -x]))
    result = compute(name, a, b)
    with np.errstate(all="ignore"):
        reference = REFERENCES[name](a, b)
    if name in ("remainder", "floor_divide"):
        np.testing.assert_array_equal(result, reference)
        zero = reference == 0
        np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(reference[zero]))
        return
    errors = errors_in_ulps(result, reference.astype(np.float64))
    assert (errors <= 4).all(), (a[errors > 4], b[errors > 4])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_f32_needs_no_f64(name):
    s = NumpyScalars()
    x = np.array([1e30, 0.3, -2.0, 0.99999], np.float32)
    with np.errstate(all="ignore"):
        result = FUNCTIONS[name](s, *(x, x[::-1].copy())[: 1 + (name not in UNARY)])
    assert result.dtype == F32
    assert s.elements <= {"f32", "i32", "i1"}


@each_dtype
def test_exact_values(dtype):
    one = dtype.type(1)
    assert compute("exp", 0 * one) == 1
    assert compute("cos", 0 * one) == 1
    assert compute("cosh", 0 * one) == 1
    assert compute("sigmoid", 0 * one) == 0.5
    assert compute("arccosh", one) == 0
    assert compute("log", one) == 0
    exponents = np.arange(-149, 128) if dtype == F32 else np.arange(-1074, 1024)
    powers = np.ldexp(one, exponents)
    np.testing.assert_array_equal(compute("log2", powers), exponents)
    two = np.full_like(powers, 2)
    np.testing.assert_array_equal(compute("power", two, exponents.astype(dtype)), powers)
    tens = np.array([10.0**k for k in range(11 if dtype == F32 else 23)], dtype)
    np.testing.assert_array_equal(compute("log10", tens), np.arange(len(tens)))


@each_dtype
def test_powers_with_exact_results(dtype):
    whole = np.arange(-1500, 1500).astype(dtype)
    np.testing.assert_array_equal(compute("power", whole, np.full_like(whole, 2)), whole * whole)
    np.testing.assert_array_equal(compute("power", whole, np.ones_like(whole)), whole)
    cubes = np.arange(-200, 200).astype(dtype)
    np.testing.assert_array_equal(compute("power", cubes, np.full_like(cubes, 3)), cubes**3)
    squares = np.arange(0, 1000).astype(dtype) ** 2
    np.testing.assert_array_equal(
        compute("power", squares, np.full_like(squares, 0.5)), np.sqrt(squares)
    )


@each_dtype
def test_ranges_are_not_left(dtype):
    x = stratified(dtype, 8)
    for name in ("sin", "cos", "tanh", "erf"):
        assert (np.abs(compute(name, x)) <= 1).all()
    assert (compute("cosh", x) >= 1).all()
    assert (np.abs(compute("arctan", x)) <= dtype.type(np.pi / 2)).all()
    within = compute("sigmoid", x)
    assert ((within >= 0) & (within <= 1)).all()


@each_dtype
@pytest.mark.parametrize("name", [
    "arcsin", "arcsinh", "arctan", "arctanh", "erf", "erfinv", "expm1", "log1p", "sin", "sinh",
    "tan", "tanh",
])  # fmt: skip
def test_odd_functions_of_subnormal_numbers(name, dtype):
    least = np.finfo(dtype).smallest_subnormal
    x = np.arange(-50, 51).astype(dtype) * least
    slope = {"erf": 2 / np.sqrt(np.pi), "erfinv": np.sqrt(np.pi) / 2}.get(name, 1.0)
    expected = np.rint(np.arange(-50, 51) * slope).astype(dtype) * least
    result = compute(name, x)
    np.testing.assert_array_equal(result, expected)
    if name not in ("expm1", "log1p"):
        np.testing.assert_array_equal(compute(name, -x), -result)
        assert np.signbit(compute(name, dtype.type(-0.0)))


def test_angles_closest_to_multiples_of_half_pi():
    # J.-M. Muller, "Elementary Functions", 3rd ed., 11.3: the hardest f64; and the hardest f32.
    hard = {F64: 6381956970095103 * 2.0**797, F32: 16367173 * 2.0**72}
    for dtype, angle in hard.items():
        with mpmath.workprec(1300):
            sine, cosine = mpmath.sin(mpmath.mpf(angle)), mpmath.cos(mpmath.mpf(angle))
            tangent = sine / cosine
        x = np.array([angle, -angle], dtype)
        for name, want in (("sin", sine), ("cos", cosine), ("tan", tangent)):
            result = compute(name, x)
            sign = 1 if name == "cos" else -1
            assert result[1] == sign * result[0]
            assert abs(float(result[0] / mpmath.mpf(want)) - 1) < 4 * np.finfo(dtype).eps


@each_dtype
def test_remainders_of_huge_quotients(dtype):
    generator = np.random.default_rng(5)
    values = stratified(dtype, 2)
    a, b = generator.choice(values, (2, 3000))
    with np.errstate(all="ignore"):
        expected = np.remainder(a, b)
    result = compute("remainder", a, b)
    np.testing.assert_array_equal(result, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[number]), np.signbit(expected[number]))


def test_logaddexp_of_far_and_equal_terms():
    a = np.array([0.0, -1000.0, 1e30, -1e30, 5.0], np.float32)
    expected = a + np.array([np.log(2)] * 5, np.float32)
    np.testing.assert_allclose(compute("logaddexp", a, a), expected, rtol=2e-7)
    np.testing.assert_array_equal(compute("logaddexp", a, a - np.float32(2e31)), a)
