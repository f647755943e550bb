"""Joins, cuts, repeats, pads, rolls and diagonals against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamina as lm

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
A = lm.array(X)


def same(a: Any, want: Any) -> bool:
    return a.shape == np.shape(want) and np.array_equal(np.array(a), want)


def test_concatenate() -> None:
    for axis in (0, 1, 2, -1, None):
        assert same(lm.concatenate([A, A + 1], axis), np.concatenate([X, X + 1], axis))
    assert lm.concat is lm.concatenate
    mixed = lm.concatenate([lm.array([1]), lm.array([1.5], lm.float16)])
    assert (mixed.dtype, mixed.tolist()) == (lm.float16, [1.0, 1.5])
    assert lm.concatenate([lm.zeros((0, 2)), lm.ones((1, 2))]).shape == (1, 2)
    assert same(lm.concatenate(A), np.concatenate(X))
    assert lm.concatenate([A, lm.array([7])], axis=None).shape == (25,)


def test_bad_concatenations_are_refused() -> None:
    with pytest.raises(ValueError, match="needs at least one array"):
        lm.concatenate([])
    with pytest.raises(ValueError, match=r"\(f32\[2,3,4\], f32\[2\]\): arrays must agree but for"):
        lm.concatenate([A, lm.ones((2,))])
    with pytest.raises(ValueError, match="arrays must agree but for axis 1"):
        lm.concatenate([lm.ones((2, 3)), lm.ones((3, 3))], 1)
    with pytest.raises(IndexError, match="axis 3 is out of range for 3 dimensions"):
        lm.concatenate([A, A], 3)
    with pytest.raises(IndexError, match="axis 0 is out of range for 0 dimensions"):
        lm.concatenate([lm.array(1), lm.array(2)])
    with pytest.raises(TypeError, match="takes a sequence of arrays, got int"):
        lm.concatenate(5)  # pyright: ignore[reportArgumentType]


def test_stack() -> None:
    for axis in (0, 1, 3, -1, -4):
        assert same(lm.stack([A, A + 1], axis), np.stack([X, X + 1], axis))
    assert lm.stack([lm.array(1), 2, lm.array(3.5)]).tolist() == [1.0, 2.0, 3.5]
    with pytest.raises(ValueError, match="arrays must have one shape"):
        lm.stack([lm.ones((2,)), lm.ones((3,))])
    with pytest.raises(IndexError, match="axis 5"):
        lm.stack([A], 5)
    with pytest.raises(ValueError, match="at least one"):
        lm.stack([])


def test_split() -> None:
    for sections, axis in ((2, 0), (3, 1), (2, -1), ([1, 2], 1), ([1, 3], 2), ([-1], 2)):
        got = lm.split(A, sections, axis)
        want = np.split(X, sections, axis)
        assert len(got) == len(want)
        assert all(same(a, b) for a, b in zip(got, want, strict=True))
    sizes = [part.shape[0] for part in lm.split(lm.arange(3), [1, 5, 2])]
    assert sizes == [1, 2, 0, 1]
    for sections in (2, 0, -1):
        with pytest.raises(ValueError, match=f"does not split into {sections} equal parts"):
            lm.split(A, sections, 1)


def test_unstack() -> None:
    for axis in (0, 1, -1):
        rows = lm.unstack(A, axis=axis)
        assert len(rows) == X.shape[axis]
        assert all(same(a, b) for a, b in zip(rows, np.moveaxis(X, axis, 0), strict=True))
    with pytest.raises(IndexError, match=r"unstack.*axis 0 is out of range for 0 dimensions"):
        lm.unstack(lm.array(1))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), ()])
def test_flip(axis: Any) -> None:
    assert same(lm.flip(A, axis), np.flip(X, axis))


def test_flip_of_empty_and_single_arrays() -> None:
    assert lm.flip(lm.zeros((0, 2))).shape == (0, 2)
    assert lm.flip(lm.array(1)).item() == 1


@given(st.integers(-9, 9), st.sampled_from([None, 0, 1, 2, -1, (0, 1)]))
@settings(max_examples=30, deadline=None)
def test_roll(shift: int, axis: Any) -> None:
    assert same(lm.roll(A, shift, axis), np.roll(X, shift, axis))


def test_roll_with_several_shifts() -> None:
    assert same(lm.roll(A, (1, -2), (0, 2)), np.roll(X, (1, -2), (0, 2)))
    assert same(lm.roll(A, (1, 1), (2, 2)), np.roll(X, 2, 2))
    assert same(lm.roll(A, (1, 2)), np.roll(X, 3))
    assert lm.roll(lm.zeros((0, 2)), 1, 0).shape == (0, 2)
    with pytest.raises(ValueError, match="2 shifts do not fit 1 axes"):
        lm.roll(A, (1, 2), 0)


@pytest.mark.parametrize("repeats", [0, 1, 3])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_repeat(repeats: int, axis: int | None) -> None:
    assert same(lm.repeat(A, repeats, axis), np.repeat(X, repeats, axis))


@pytest.mark.parametrize("reps", [2, (2,), (2, 1), (1, 2, 3), (2, 1, 1, 2), (0, 1), ()])
def test_tile(reps: Any) -> None:
    for x in (X, X[0, 0], np.array(5, np.int32)):
        assert same(lm.tile(lm.array(x), reps), np.tile(x, reps))


def test_negative_repeats_are_refused() -> None:
    with pytest.raises(ValueError, match="repeats must not be negative, got -1"):
        lm.repeat(A, -1)
    with pytest.raises(ValueError, match="repeats must not be negative"):
        lm.tile(A, (1, -1))
    assert lm.repeat(lm.array(1), 3).tolist() == [1, 1, 1]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("width", [0, 1, (1, 2), [(1, 0), (0, 2), (3, 1)], ((2, 1),), (7, 5)])
def test_pad(mode: Any, width: Any) -> None:
    assert same(lm.pad(A, width, mode), np.pad(X, width, mode))


@given(st.integers(1, 5), st.integers(0, 12), st.integers(0, 12))
@settings(max_examples=40, deadline=None)
def test_wide_mirrors(size: int, low: int, high: int) -> None:
    x = np.arange(size, dtype=np.int32)
    for mode in ("edge", "symmetric"):
        assert same(lm.pad(lm.array(x), (low, high), mode), np.pad(x, (low, high), mode))
    if size > 1:
        assert same(lm.pad(lm.array(x), (low, high), "reflect"), np.pad(x, (low, high), "reflect"))


def test_pad_values() -> None:
    a = lm.array([1, 2])
    assert lm.pad(a, 1, constant_values=5).tolist() == [5, 1, 2, 5]
    assert lm.pad(a, 1, constant_values=lm.array(2.5)).tolist() == [2, 1, 2, 2]
    assert lm.pad(lm.array(1), 1).shape == ()
    assert lm.pad(lm.zeros((0,)), 1).tolist() == [0.0, 0.0]


def test_bad_pads_are_refused() -> None:
    with pytest.raises(ValueError, match="gives no pair of widths for each of 3 axes"):
        lm.pad(A, -1)
    with pytest.raises(ValueError, match="gives no pair of widths"):
        lm.pad(A, (1, 2, 3))
    with pytest.raises(ValueError, match=r"mode must be .* got 'wrap'"):
        lm.pad(A, 1, "wrap")
    with pytest.raises(ValueError, match="axis 0 has no elements to repeat"):
        lm.pad(lm.zeros((0,)), 1, "edge")
    with pytest.raises(ValueError, match="constant_values must have rank 0"):
        lm.pad(A, 1, constant_values=lm.array([1]))


@pytest.mark.parametrize("offset", [-5, -1, 0, 1, 2, 9])
def test_diagonals(offset: int) -> None:
    for axes in ((0, 1), (1, 2), (2, 0), (-1, 0)):
        assert same(lm.diagonal(A, offset, *axes), np.diagonal(X, offset, *axes))
        assert same(lm.trace(A, offset, *axes), np.trace(X, offset, *axes))
    assert same(lm.diag(A[0], offset), np.diag(X[0], offset))
    assert same(lm.diag(A[0, 0], offset), np.diag(X[0, 0], offset))


def test_diagonals_at_the_edges() -> None:
    assert lm.diagonal(lm.zeros((0, 3))).shape == (0,)
    assert lm.diag(lm.zeros((0,)), 1).tolist() == [[0.0]]
    assert lm.diag(lm.array([float("nan")]), 1)[1, 0].item() == 0.0
    assert lm.trace(lm.ones((2, 3), lm.int8)).dtype is lm.int32
    assert lm.trace(lm.ones((2, 3)), dtype=lm.int8).dtype is lm.int32
    with pytest.raises(ValueError, match=r"diagonal.*at least two axes"):
        lm.diagonal(lm.zeros((3,)))
    with pytest.raises(ValueError, match="name an axis twice"):
        lm.diagonal(A, 0, 1, 1)
    with pytest.raises(ValueError, match=r"diag.*one or two axes"):
        lm.diag(A)
