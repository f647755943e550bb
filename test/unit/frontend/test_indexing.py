"""Indexing with integers, slices, Ellipsis and None, and assignment to such windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

import lamina as lm

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@given(hnp.basic_indices((2, 3, 4), allow_newaxis=True, allow_ellipsis=True))
@settings(max_examples=150, deadline=None)
def test_basic_indices_agree_with_numpy(index: Any) -> None:
    got = lm.array(X)[index]
    assert got.shape == X[index].shape
    assert np.array_equal(np.array(got), X[index])


@given(hnp.basic_indices((3, 4), allow_newaxis=True, allow_ellipsis=True))
@settings(max_examples=100, deadline=None)
def test_assignments_agree_with_numpy(index: Any) -> None:
    want = np.arange(12, dtype=np.int32).reshape(3, 4)
    a = lm.array(want)
    before = lm.array(a)
    row = np.arange(100, 100 + want[index].size, dtype=np.int32).reshape(want[index].shape)
    a[index] = lm.array(row)
    want[index] = row
    assert np.array_equal(np.array(a), want)
    assert before.tolist() == np.arange(12).reshape(3, 4).tolist()


def test_whole_arrays_and_rank_0() -> None:
    a = lm.array(5)
    assert a[()].item() == a[...].item() == 5
    assert a[None].shape == (1,)
    a[...] = 7
    assert a.item() == 7
    b = lm.array(X)
    assert np.array_equal(np.array(b[:]), X)


def test_slices_are_values() -> None:
    a = lm.array([1, 2, 3])
    part = a[:2]
    a[0] = 9
    assert part.tolist() == [1, 2]
    part[1] = 8
    assert a.tolist() == [9, 2, 3]


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (2, "index 2 is out of range for axis 0 of size 2"),
        (-3, "index -3 is out of range for axis 0 of size 2"),
        ((0, 3), "index 3 is out of range for axis 1 of size 3"),
        ((0, 0, 0, 0), "4 indices for 3 dimensions"),
        ((..., ...), "one Ellipsis only"),
        (True, "got bool"),
        (1.0, "got float"),
        ("a", "got str"),
        ([0, 1], "got list"),
        (np.array([0]), "got ndarray"),
        (slice(None, None, 0), "zero"),
        (slice("a", None), "slice indices must be integers"),
    ],
)
def test_bad_indices_are_refused(index: Any, text: str) -> None:
    a = lm.array(X)
    with pytest.raises(IndexError, match=rf"getitem\(i32\[2,3,4\]\).*{text}.*test_indexing\.py"):
        a[index]
    with pytest.raises(lm.LaminaError, match=text):
        a[index] = 1
    assert np.array_equal(np.array(a), X)


def test_integer_arrays_of_rank_0_are_indices() -> None:
    a = lm.array(X)
    assert np.array_equal(np.array(a[lm.array(1)]), X[1])
    assert np.array_equal(np.array(a[np.int64(1), : lm.array(2)]), X[1, :2])
    with pytest.raises(IndexError, match="got Array"):
        a[lm.array([0, 1])]


def test_assigned_values_take_the_dtype_of_the_array() -> None:
    a = lm.array(np.arange(12, dtype=np.int32).reshape(3, 4))
    a[:, 1] = 2.7
    a[0] = lm.array([1.5, 2, 3, 4])
    a[1, ::-2] = np.array([8, 9])
    assert a.dtype is lm.int32
    assert a.tolist() == [[1, 2, 3, 4], [4, 9, 6, 8], [8, 2, 10, 11]]
    a[None] = True
    assert a.tolist() == [[1] * 4] * 3
    a[:2] = lm.zeros((1, 1, 2, 4))
    assert a.tolist() == [[0] * 4, [0] * 4, [1] * 4]


def test_values_that_do_not_fit_are_refused() -> None:
    a = lm.ones((3, 4))
    for value in (lm.ones((3,)), lm.ones((2, 4)), lm.ones((2, 1, 4))):
        with pytest.raises(ValueError, match="does not fit a window of shape"):
            a[0] = value
    with pytest.raises(TypeError, match="setitem: takes arrays and numbers, got list"):
        a[0] = [1, 2, 3, 4]
    a[0:0] = 5
    assert a.tolist() == [[1.0] * 4] * 3
