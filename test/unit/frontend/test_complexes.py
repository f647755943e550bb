"""Functions of complex numbers against NumPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamina as lm

FUNCTIONS = (
    "exp", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
    "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "square", "reciprocal",
    "conjugate", "sign", "negative",
)  # fmt: skip
PARTS = st.floats(-6, 6, width=32).filter(lambda x: x == 0 or abs(x) > 1e-3)
POINTS = st.builds(complex, PARTS, PARTS)


def close(got: Any, want: Any, limit: float = 3e-5) -> None:
    got, want = np.asarray(got, np.complex128), np.asarray(want, np.complex128)
    scale = np.maximum(np.abs(want), 1e-3)
    assert np.all((np.abs(got - want) <= limit * scale) | (got == want)), (got, want)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(st.lists(POINTS, min_size=1, max_size=8))
@settings(max_examples=15, deadline=None)
def test_functions_agree_with_numpy(name: str, points: list[complex]) -> None:
    x = np.array(points, np.complex64)
    near_pole = name in ("arctan", "arctanh", "log", "log1p", "log2", "log10", "reciprocal", "tan")
    if near_pole:
        poles = np.array([0, 1, -1, 1j, -1j, np.pi / 2, -np.pi / 2, 3 * np.pi / 2])
        x = x[np.min(np.abs(x[:, None] - poles), axis=1) > 1e-2]
    result = getattr(lm, name)(lm.array(x))
    assert result.dtype is lm.complex64
    close(np.array(result), getattr(np, name)(x.astype(np.complex128)))


@pytest.mark.parametrize("name", ["sqrt", "log", "arcsin", "arccos", "arcsinh", "arccosh"])
def test_branch_cuts_follow_the_sign_of_zero(name: str) -> None:
    x = np.array([complex(a, b) for a in (-3.0, 3.0) for b in (0.0, -0.0)], np.complex64)
    if name == "arcsinh":
        x = np.array([complex(b, a) for a in (-3.0, 3.0) for b in (0.0, -0.0)], np.complex64)
    close(np.array(getattr(lm, name)(lm.array(x))), getattr(np, name)(x))


def test_absolute_values_do_not_overflow() -> None:
    z = lm.array([3e38 + 1e38j, 3e-39 + 4e-39j, 3 - 4j, 0j, complex(math.inf, math.nan), 1e38j])
    want = [math.hypot(3e38, 1e38), 5e-39, 5.0, 0.0, math.inf, 1e38]
    np.testing.assert_allclose(np.array(lm.abs(z)), want, rtol=1e-6)
    assert lm.abs(z).dtype is lm.float32
    assert math.isnan(lm.abs(lm.array(complex(math.nan, 1))).item())


def test_parts() -> None:
    z = lm.array([1 + 2j, -3 - 4j])
    assert lm.real(z).tolist() == [1.0, -3.0]
    assert lm.imag(z).tolist() == [2.0, -4.0]
    assert lm.conj(z).tolist() == [1 - 2j, -3 + 4j]
    assert lm.conj(lm.array([1.5])).dtype is lm.float32
    assert lm.real(lm.array([1], lm.int8)).dtype is lm.int8
    assert lm.imag(lm.array([1.5])).tolist() == [0.0]


def test_arithmetic() -> None:
    x = np.array([1 + 2j, -3 - 0.5j], np.complex64)
    y = np.array([2 - 1j, 0.5 + 3j], np.complex64)
    a, b = lm.array(x), lm.array(y)
    close(np.array(a + b), x + y)
    close(np.array(a - 1), x - 1)
    close(np.array(a * b), x * y)
    close(np.array(a / b), x / y)
    close(np.array(a**b), x**y)
    close(np.array(a**2), x**2)
    close(np.array(1j * lm.array([1.0, 2.0])), np.array([1j, 2j]))


def test_powers_of_zero() -> None:
    z = lm.power(lm.array([0j, 0j, 2j]), lm.array([2 + 1j, 0j, 0j]))
    assert z.tolist() == [0j, 1 + 0j, 1 + 0j]


def test_order_is_by_real_then_imaginary_part() -> None:
    x = np.array([1 + 2j, 1 + 3j, -1 + 9j, 1 + 2j], np.complex64)
    y = np.array([1 + 3j, 1 + 2j, 1 - 9j, 1 + 2j], np.complex64)
    a, b = lm.array(x), lm.array(y)
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        assert getattr(lm, name)(a, b).tolist() == getattr(np, name)(x, y).tolist()
    assert lm.maximum(a, b).tolist() == np.maximum(x, y).tolist()
    assert lm.minimum(a, b).tolist() == np.minimum(x, y).tolist()
    nan = lm.array([complex(math.nan, 0)])
    assert math.isnan(lm.maximum(nan, 1j).item().real)
    assert math.isnan(lm.maximum(1j, nan).item().real)


def test_reductions() -> None:
    x = np.array([[1 + 2j, -3 + 1j], [1 + 5j, 0.5j]], np.complex64)
    a = lm.array(x)
    for name in ("sum", "prod", "mean", "max", "min"):
        close(np.array(getattr(lm, name)(a)), getattr(np, name)(x))
        close(np.array(getattr(lm, name)(a, 0)), getattr(np, name)(x, 0))
    for name in ("argmax", "argmin"):
        assert getattr(lm, name)(a).item() == getattr(np, name)(x)
        assert getattr(lm, name)(a, 1).tolist() == getattr(np, name)(x, 1).tolist()
    np.testing.assert_allclose(np.array(lm.var(a)), np.var(x), rtol=1e-6)
    assert lm.std(a).dtype is lm.float32
    close(np.array(lm.logsumexp(a)), np.log(np.sum(np.exp(x))))
    close(np.array(lm.softmax(a, 1)), np.exp(x) / np.exp(x).sum(1, keepdims=True))
    # The imaginary part of logaddexp is not brought back into (-pi, pi].
    close(np.exp(np.array(lm.logaddexp(a, 1j))), np.exp(x) + np.exp(1j))
    assert lm.any(a).item()
    close(np.array(lm.cumsum(a, 1)), np.cumsum(x, 1))
    with pytest.raises(TypeError, match=r"cummax.*does not take complex64"):
        lm.cummax(a)


def test_exponentials_at_the_edges() -> None:
    inf = math.inf
    z = lm.exp(lm.array([complex(inf, 0), complex(-inf, 0), 0j]))
    assert z.tolist() == [complex(inf, 0), 0j, 1 + 0j]
    assert lm.tanh(lm.array([100 + 1j, -100 - 2j])).tolist() == pytest.approx([1, -1])
