"""Reshapes, axes, broadcasts, and views of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lamina as lm
from lamina.frontend.dtypes import ALL

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
A = lm.array(X)


def same(a: Any, want: Any) -> bool:
    return a.shape == np.shape(want) and np.array_equal(np.array(a), want)


@pytest.mark.parametrize("shape", [(24,), (4, 6), (-1,), (2, -1, 3), (1, 24, 1), [3, 8], 24])
def test_reshape(shape: Any) -> None:
    assert same(lm.reshape(A, shape), X.reshape(shape))


def test_reshape_of_empty_and_single_arrays() -> None:
    assert lm.reshape(lm.zeros((0, 3)), (-1, 3)).shape == (0, 3)
    assert lm.reshape(lm.zeros((0, 3)), (5, 0)).shape == (5, 0)
    assert lm.reshape(lm.array(1), (1, 1)).shape == (1, 1)
    assert lm.reshape(lm.array([1]), ()).shape == ()


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((5, -1), r"cannot reshape 24 elements into \(5, -1\)"),
        ((-1, -1), "one size can be -1"),
        ((25,), r"cannot reshape 24 elements into \(25,\)"),
        ((-2, 12), "must not be negative"),
        ((-1, 0), "cannot reshape"),
    ],
)
def test_bad_reshapes_are_refused(shape: Any, text: str) -> None:
    with pytest.raises(ValueError, match=rf"reshape\(i32\[2,3,4\]\): .*{text}.*test_shaping\.py"):
        lm.reshape(A, shape)


def test_sizes_must_be_integers() -> None:
    with pytest.raises(TypeError, match="a size must be an integer, got float"):
        A.reshape(3.0, 8)
    with pytest.raises(ValueError, match=r"cannot infer|cannot reshape"):
        lm.zeros((0, 3)).reshape(0, -1)


def test_flatten_and_unflatten() -> None:
    assert lm.flatten(A).shape == (24,)
    assert lm.flatten(A, 1).shape == (2, 12)
    assert lm.flatten(A, 0, 1).shape == (6, 4)
    assert lm.flatten(A, -2, -1).shape == (2, 12)
    assert lm.flatten(A, -9, 9).shape == (24,)
    assert lm.flatten(lm.array(1)).shape == (1,)
    with pytest.raises(ValueError, match="start_axis 2 comes after end_axis 1"):
        lm.flatten(A, 2, 1)
    assert same(lm.unflatten(A, 2, (2, -1)), X.reshape(2, 3, 2, 2))
    with pytest.raises(ValueError, match=r"unflatten.*cannot reshape 4 elements"):
        lm.unflatten(A, 2, (3, -1))


def test_squeeze_and_expand_dims() -> None:
    a = lm.zeros((1, 2, 1))
    assert lm.squeeze(a).shape == (2,)
    assert lm.squeeze(a, -1).shape == (1, 2)
    assert lm.squeeze(a, (0, 2)).shape == (2,)
    with pytest.raises(ValueError, match="axis 1 has size 2, not 1"):
        lm.squeeze(a, 1)
    b = lm.zeros((3,))
    assert lm.expand_dims(b, 0).shape == (1, 3)
    assert lm.expand_dims(b, -1).shape == (3, 1)
    assert lm.expand_dims(b, (0, 2)).shape == (1, 3, 1)
    assert lm.expand_dims(b, ()).shape == (3,)
    with pytest.raises(IndexError, match="axis 3 is out of range for 2 dimensions"):
        lm.expand_dims(b, 3)
    with pytest.raises(ValueError, match="name an axis twice"):
        lm.expand_dims(b, (0, 0))


def test_at_least() -> None:
    for shape in ((), (3,), (2, 3), (2, 3, 4), (1, 2, 3, 4)):
        x = np.zeros(shape)
        assert lm.atleast_1d(lm.array(x)).shape == np.atleast_1d(x).shape  # type: ignore[union-attr]
        assert lm.atleast_2d(lm.array(x)).shape == np.atleast_2d(x).shape  # type: ignore[union-attr]
        assert lm.atleast_3d(lm.array(x)).shape == np.atleast_3d(x).shape  # type: ignore[union-attr]
    pair = lm.atleast_2d(lm.array(1), lm.array([1, 2]))
    assert [a.shape for a in pair] == [(1, 1), (1, 2)]


@given(st.permutations(range(3)))
@settings(max_examples=6, deadline=None)
def test_transpose(axes: list[int]) -> None:
    assert same(lm.transpose(A, axes), X.transpose(axes))
    assert same(lm.permute_dims(A, [axis - 3 for axis in axes]), X.transpose(axes))


def test_axes_in_other_places() -> None:
    assert same(lm.transpose(A), X.T)
    assert same(lm.matrix_transpose(A), X.swapaxes(1, 2))
    for i in range(-3, 3):
        for j in range(-3, 3):
            assert same(lm.swapaxes(A, i, j), X.swapaxes(i, j))
            assert same(lm.moveaxis(A, i, j), np.moveaxis(X, i, j))
    assert same(lm.moveaxis(A, (0, 1), (-1, 0)), np.moveaxis(X, (0, 1), (-1, 0)))


def test_bad_axes_are_refused() -> None:
    with pytest.raises(IndexError, match=r"swapaxes\(i32\[2,3,4\]\): axis 5 is out of range"):
        lm.swapaxes(A, 0, 5)
    with pytest.raises(ValueError, match="axis 5 is out of range"):
        lm.moveaxis(A, 5, 0)
    with pytest.raises(ValueError, match="takes 3 axes, got 2"):
        lm.transpose(A, (0, 1))
    with pytest.raises(ValueError, match="name an axis twice"):
        lm.transpose(A, (0, 0, 1))
    with pytest.raises(ValueError, match="moves 2 axes to 1 places"):
        lm.moveaxis(A, (0, 1), 0)
    with pytest.raises(ValueError, match="at least two axes"):
        lm.matrix_transpose(lm.zeros((3,)))
    with pytest.raises(TypeError, match="an axis must be an integer, got float"):
        lm.swapaxes(A, 0.0, 1)  # pyright: ignore[reportArgumentType]


def test_broadcast_to() -> None:
    assert same(lm.broadcast_to(lm.array([1, 2, 3]), (2, 3)), np.tile([1, 2, 3], (2, 1)))
    assert lm.broadcast_to(1, (2,)).tolist() == [1, 1]
    assert lm.broadcast_to(lm.zeros((1, 3)), (0, 3)).shape == (0, 3)
    for shape in ((2, 4), (), (3, 1)):
        with pytest.raises(ValueError, match=r"shape \(3,\) does not broadcast to"):
            lm.broadcast_to(lm.zeros((3,)), shape)
    with pytest.raises(ValueError, match=r"shape \(1, 3\) does not broadcast to \(3,\)"):
        lm.broadcast_to(lm.zeros((1, 3)), (3,))


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, min_side=0, max_side=3))
@settings(max_examples=30, deadline=None)
def test_broadcast_arrays_and_shapes(shapes: hnp.BroadcastableShapes) -> None:
    assert lm.broadcast_shapes(*shapes.input_shapes) == shapes.result_shape
    arrays = lm.broadcast_arrays(*[lm.zeros(shape) for shape in shapes.input_shapes])
    assert [a.shape for a in arrays] == [shapes.result_shape] * 3


def test_broadcasts_that_fail_name_the_shapes() -> None:
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\) do not broadcast"):
        lm.broadcast_shapes((2,), (3,))
    with pytest.raises(ValueError, match=r"shapes \(2,\) and \(3,\) do not broadcast"):
        lm.broadcast_arrays(lm.zeros((2,)), lm.zeros((3,)))
    mixed = lm.broadcast_arrays(lm.array([1, 2]), 1.5)
    assert [a.dtype for a in mixed] == [lm.int32, lm.float32]
    assert lm.broadcast_arrays() == ()


def test_astype() -> None:
    a = lm.array([1.9, -1.9, float("nan"), 1e10])
    assert lm.astype(a, lm.int32).tolist() == [1, -1, 0, 2**31 - 1]
    assert a.astype(lm.uint8).tolist() == [1, 0, 0, 255]
    assert a.astype(lm.bool_).tolist() == [True] * 4
    with pytest.raises(TypeError, match=r"such as lamina.float32, got 'float32'"):
        a.astype("float32")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("source", ALL, ids=str)
def test_views_agree_with_numpy(source: lm.Dtype, dtype: lm.Dtype) -> None:
    x = np.arange(1, 33).reshape(2, 16).astype(source.numpy)
    result = lm.view(lm.array(x, source), dtype)
    if dtype is lm.bool_:
        want = x.view(np.uint8) != 0
    else:
        want = x.view(dtype.numpy)
    assert result.dtype is dtype
    assert result.shape == want.shape
    assert np.array(result).tobytes() == want.tobytes()


def test_views_of_rank_0_and_bad_sizes() -> None:
    assert lm.view(lm.array(1.0), lm.int32).item() == 0x3F800000
    assert lm.view(lm.array(1j), lm.uint64).item() == 0x3F80000000000000
    with pytest.raises(ValueError, match="rank 0 cannot be viewed as int8"):
        lm.view(lm.array(1), lm.int8)
    with pytest.raises(ValueError, match="no whole number of int64"):
        lm.view(lm.array([1, 2, 3]), lm.int64)
    assert lm.view(lm.zeros((2, 0)), lm.int8).shape == (2, 0)
