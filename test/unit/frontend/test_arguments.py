"""Arguments that no function can take, and numbers and shapes at the ends of their ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lamina as lm

HUGE = 10**5000
"""An integer that Python refuses to write."""

X = np.ones((2, 2), np.float32)

BAD_ARGUMENTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a text as the axis": (lambda x: lm.flatten(x, "x"), "flatten: an axis must be an integer"),
    "a float as the last axis": (lambda x: lm.flatten(x, 0, 1.5), "flatten: an axis must be"),
    "a float as a diagonal": (lambda x: lm.diagonal(x, 1.5), "diagonal: the offset must be an int"),
    "an array as a diagonal": (lambda x: lm.diag(x, lm.ones(3)), "diag: k must be an integer"),
    "None as a triangle": (lambda x: lm.triu(x, None), "triu: k must be an integer"),
    "a text as decimals": (lambda x: lm.round(x, "x"), "round: decimals must be an integer"),
    "a time as decimals": (lambda x: lm.round(x, np.timedelta64(1)), "round: decimals must be"),
    "a time as a number": (lambda x: x + np.timedelta64(1), "NumPy's dtype timedelta64"),
    "a time as a range": (lambda _: lm.arange(np.timedelta64(1)), "arange: .* must be a number"),
    "None for NaN": (lambda x: lm.nan_to_num(x, None), "nan_to_num: nan must be a number"),
    "a list as padding": (lambda x: lm.pad(x, 1, "constant", [1]), "constant_values must be a num"),
    "one group of axes": (lambda x: lm.tensordot(x, x, [0]), "the axes of each of two arrays"),
    "a text as a shape": (lambda _: lm.broadcast_shapes("x"), "a size must be an integer"),
    "a list as a kind": (lambda x: lm.isdtype(x.dtype, []), "isdtype: unknown kind"),
    "an array as a dtype": (lambda x: lm.zeros(2, x), "dtype must be one of .* got Array at .*py"),
    "0 as a dtype": (lambda _: lm.ones(2, 0), "dtype must be one of Lamina's, .* got int"),
    "a text as a stream": (lambda x: lm.exp(x, stream="x"), "stream= takes a stream.* at .*py"),
    "a huge axis": (lambda x: lm.sum(x, HUGE), "an axis must fit in 64 bits"),
    "a huge size": (lambda _: lm.zeros(HUGE), "a size must fit in 64 bits"),
    "a huge integer": (lambda x: x.astype(lm.int8) + HUGE, "16610 bits is out of range of int8"),
    "a huge array": (lambda _: lm.array(HUGE), "16610 bits is out of range of every dtype"),
    "a huge dtype": (lambda _: lm.zeros(2, HUGE), "got int"),
    "a huge range": (lambda _: lm.arange(HUGE), "arange: an integer of 16610 bits is out of"),
    "a long range": (lambda _: lm.arange(2**63), "more elements than memory has addresses"),
    "a long float range": (lambda _: lm.arange(0, 1e300), "more elements than memory has"),
    "many elements": (lambda _: lm.zeros((2**33, 2**33)), "more elements than memory"),
    "many behind none": (lambda _: lm.zeros((0, 2**62)), "more elements than memory"),
    "many repeats": (lambda x: lm.repeat(x, 2**60, 1), "more elements than memory"),
    "many tiles": (lambda x: lm.tile(x, 2**62), "more elements than memory"),
    "wide padding": (lambda x: lm.pad(x, 2**62), "pad.*more elements than memory"),
    "a long diagonal": (lambda x: lm.diag(x[0], 2**40), "diag.*more elements than memory"),
    "many axes": (lambda _: lm.zeros((1,) * 65), "at most 64 dimensions, got 65"),
    "many new axes": (lambda x: x[(None,) * 63], "at most 64 dimensions, got 65"),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_bad_arguments_have_errors_that_name_them(case: str) -> None:
    call, message = BAD_ARGUMENTS[case]
    with pytest.raises(lm.LaminaError, match=message):
        call(lm.array(X))


def test_huge_integers_beside_floats() -> None:
    assert (lm.array(1.0) + HUGE).item() == lm.inf
    assert (lm.array(1j) - HUGE).item().real == -lm.inf
    assert lm.array(-HUGE, lm.complex64).item() == complex(-lm.inf, 0)
    assert lm.linspace(HUGE, 1.0, 2).tolist()[0] == lm.inf


def test_shapes_at_the_limit() -> None:
    assert lm.zeros((2**59,)).shape == (2**59,)
    assert np.array(lm.zeros((1,) * 64) + 1).shape == (1,) * 64
    assert lm.broadcast_shapes(3, (2, 1), [3]) == (2, 3)


@pytest.mark.parametrize("k", [2**31 - 1, 2**31, -(2**31), 2**62, -(2**62)])
def test_diagonals_far_outside(k: int) -> None:
    ones = np.ones((2, 3), np.float32)
    below = ones if k > 0 else 0 * ones
    assert lm.tri(2, 3, k).tolist() == below.tolist()
    assert lm.tril(lm.ones((2, 3)), k).tolist() == below.tolist()
    assert lm.triu(lm.ones((2, 3)), k).tolist() == (ones - below).tolist()
    assert lm.eye(2, 3, k).tolist() == (0 * ones).tolist()
    assert lm.diagonal(lm.ones((2, 3)), k).shape == (0,)


@pytest.mark.parametrize("dtype", [lm.float16, lm.bfloat16, lm.float32, lm.float64])
def test_round_to_more_places_than_the_dtype_has(dtype: lm.Dtype) -> None:
    values = [1.5, -0.25, 0.0, -0.0, 60000.0, lm.inf, -lm.inf]
    a = lm.array(values, dtype)
    for places in (5, 40, 400, 2**62):
        assert repr(lm.round(a, places).tolist()) == repr(a.tolist())
    assert repr(lm.round(a[:5], -40).tolist()) == "[0.0, -0.0, 0.0, -0.0, 0.0]"
    assert np.isnan(lm.round(lm.array(lm.nan, dtype), 3).item())


def test_round_keeps_numbers_whose_scaled_value_overflows() -> None:
    assert lm.round(lm.array(1e30), 10).item() == lm.array(1e30).item()
    assert lm.round(lm.array(0.123456, lm.float16), 3).item() == pytest.approx(0.123, abs=1e-4)


@pytest.mark.parametrize("dtype", [lm.bool_, lm.int8, lm.uint16, lm.int64, lm.uint64])
def test_round_integers_to_more_zeros_than_they_have(dtype: lm.Dtype) -> None:
    for places in (-20, -400, -(2**62)):
        result = lm.round(lm.array([0, 1], dtype), places)
        assert (result.tolist(), result.dtype) == ([0, 0], dtype)
