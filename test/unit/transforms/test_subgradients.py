"""Points without a derivative give the documented subgradient; a cotangent of 0 gives 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lamina as lm


def gradient(function, *values, argnums=0):
    found = lm.grad(lambda *xs: function(*xs).sum(), argnums=argnums)(
        *[lm.array(value) for value in values]
    )
    return [np.asarray(g).tolist() for g in found] if isinstance(found, tuple) else found.tolist()


@pytest.mark.parametrize(
    ("function", "point"),
    [
        (lm.sqrt, 0.0),
        (lm.sqrt, -1.0),
        (lm.rsqrt, 0.0),
        (lm.log, 0.0),
        (lm.log, -2.0),
        (lm.log1p, -1.0),
        (lm.log2, 0.0),
        (lm.log10, 0.0),
        (lm.arcsin, 1.0),
        (lm.arccos, -1.0),
        (lm.arccosh, 1.0),
        (lm.arctanh, 1.0),
        (lm.erfinv, 1.0),
        (lm.exp, 1000.0),
        (lm.expm1, 1000.0),
        (lm.sinh, 1000.0),
        (lm.cosh, 1000.0),
        (lambda x: 1 / x, 0.0),
        (lambda x: x / x, 0.0),
        (lambda x: x**0.5, 0.0),
        (lambda x: x**-1.0, 0.0),
        (lambda x: 0.0**x, -1.0),
    ],
)
def test_a_branch_that_is_not_taken_gives_zero(function, point):
    def masked(x):
        return lm.where(x == point, 3 * x, function(x))

    x = lm.array(point)
    assert lm.grad(masked)(x).item() == 3
    assert lm.grad(lambda x: function(x) * 0.0)(x).item() == 0
    assert lm.jvp(masked, [x], [lm.array(1.0)])[1][0].item() == 3
    assert lm.vmap(lm.grad(masked))(lm.array([point, point])).tolist() == [3, 3]
    assert lm.grad(lm.grad(masked))(x).item() == 0


def test_slopes_that_are_infinite():
    assert gradient(lm.sqrt, 0.0) == math.inf
    assert gradient(lm.log, 0.0) == math.inf
    assert gradient(lm.rsqrt, 0.0) == -math.inf


def test_corners():
    assert gradient(lm.abs, [0.0, -0.0, -2.0, 2.0]) == [0, 0, -1, 1]
    assert gradient(lm.sign, [0.0, 3.0]) == [0, 0]
    tie = gradient(lm.maximum, [1.0, 2.0, 0.0], [1.0, 1.0, 1.0], argnums=(0, 1))
    assert tie == [[0.5, 1, 0], [0.5, 0, 1]]
    tie = gradient(lm.minimum, [1.0, 2.0, 0.0], [1.0, 1.0, 1.0], argnums=(0, 1))
    assert tie == [[0.5, 0, 1], [0.5, 1, 0]]
    assert gradient(lm.max, [1.0, 2.0, 2.0]) == [0, 0.5, 0.5]
    assert gradient(lm.min, [1.0, 1.0, 2.0, 1.0]) == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    assert gradient(lm.cummax, [1.0, 2.0, 2.0, 1.0, 3.0]) == [1, 3, 0, 0, 1]
    assert gradient(lm.cummin, [2.0, 2.0, 1.0]) == [2, 0, 1]
    assert gradient(lambda x: lm.cummax(x, reverse=True), [1.0, 2.0, 2.0]) == [0, 0, 3]


def test_extrema_of_nan_and_infinity():
    assert gradient(lm.max, [1.0, math.nan]) == [0, 1]
    assert gradient(lm.max, [-math.inf, -math.inf]) == [0.5, 0.5]
    assert gradient(lm.cummax, [1.0, math.nan, 5.0]) == [1, 2, 0]
    assert gradient(lm.cummax, [-math.inf, 1.0]) == [1, 1]


def test_powers_at_zero():
    powers = gradient(lm.power, [0.0, 0.0, 0.0], [0.0, 1.0, 2.0], argnums=(0, 1))
    assert powers == [[0, 1, 0], [0, 0, 0]]
    assert gradient(lambda x: x**0, [0.0, 2.0]) == [0, 0]
    assert gradient(lambda x: x**3, [0.0, 2.0, -2.0]) == [0, 12, 12]
    assert gradient(lambda x: x**2, [-3.0]) == [-6]
    assert lm.grad(lm.grad(lambda x: x**2.0))(lm.array(0.0)).item() == 2
    assert lm.grad(lm.grad(lm.grad(lambda x: x**3)))(lm.array(0.0)).item() == 6


def test_products_with_zeros():
    assert gradient(lm.prod, [2.0, 0.0, 5.0]) == [0, 10, 0]
    assert gradient(lm.prod, [0.0, 0.0, 5.0]) == [0, 0, 0]
    assert gradient(lm.prod, [3.0]) == [1]
    assert gradient(lm.cumprod, [2.0, 0.0, 5.0, 0.0, 7.0]) == [1, 2 + 10, 0, 0, 0]
    assert gradient(lm.cumprod, [0.0, 3.0]) == [4, 0]
    assert gradient(lambda x: lm.cumprod(x, reverse=True), [3.0, 0.0]) == [0, 4]
    assert gradient(lambda x: lm.cumprod(x, inclusive=False), [0.0, 3.0, 2.0]) == [4, 0, 0]
    hessian = lm.vmap(lambda v: lm.jvp(lm.grad(lm.prod), [lm.array([0.0, 0.0, 5.0])], [v])[1][0])(
        lm.eye(3)
    )
    assert hessian.tolist() == [[0, 5, 0], [5, 0, 0], [0, 0, 0]]


def test_angles_and_logarithms_of_sums():
    assert gradient(lm.arctan2, 0.0, 0.0, argnums=(0, 1)) == [0, 0]
    big = gradient(lm.arctan2, 3e30, 4e30, argnums=(0, 1))
    np.testing.assert_allclose(big, [4 / 25e30, -3 / 25e30], rtol=1e-6)
    least = -math.inf
    assert gradient(lm.logaddexp, least, least, argnums=(0, 1)) == [0.5, 0.5]
    assert gradient(lm.logaddexp, least, 1.0, argnums=(0, 1)) == [0, 1]
    assert gradient(lm.logsumexp, [least, least]) == [0, 0]
    assert gradient(lm.logsumexp, [least, 2.0]) == [0, 1]
    assert gradient(lm.logsumexp, [math.inf, 2.0]) == [1, 0]
    assert gradient(lm.logsumexp, [1000.0, 1000.0]) == [0.5, 0.5]


def test_norms_at_zero_by_where():
    def norm(x):
        square = (x * x).sum()
        return lm.where(square == 0, 0.0, lm.sqrt(square))

    assert gradient(norm, [0.0, 0.0]) == [0, 0]
    assert gradient(lm.std, [2.0, 2.0]) == [0, 0]
    assert gradient(norm, [3.0, 4.0]) == pytest.approx([0.6, 0.8])


def test_narrow_floats_keep_their_range():
    x = lm.array([300.0, -2000.0], dtype=lm.float16)
    for function, slope in (
        (lm.arctan, lambda x: 1 / (1 + x * x)),
        (lm.arcsinh, lambda x: 1 / np.sqrt(1 + x * x)),
    ):
        found = lm.grad(lambda x, f=function: f(x).sum())(x)
        assert found.dtype is lm.float16
        expected = slope(np.asarray(x, np.float64))
        np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=0.03, atol=1e-7)
    tied = lm.ones((1000,), dtype=lm.bfloat16)
    assert lm.grad(lm.max)(tied)[0].item() == pytest.approx(1e-3, rel=0.01)
