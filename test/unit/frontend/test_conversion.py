"""Arrays from Python data and NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamina as lm
from lamina.frontend.dtypes import ALL


@pytest.mark.parametrize(
    ("data", "dtype", "values"),
    [
        (1, lm.int32, 1),
        (True, lm.bool_, True),
        (1.5, lm.float32, 1.5),
        (1j, lm.complex64, 1j),
        (-(2**31), lm.int32, -(2**31)),
        (2**31, lm.int64, 2**31),
        (2**63, lm.uint64, 2**63),
        ([1, 2.5, True], lm.float32, [1.0, 2.5, 1.0]),
        ([True, 2], lm.int32, [1, 2]),
        ([1, 2**40], lm.int64, [1, 2**40]),
        ([1, 2**63], lm.uint64, [1, 2**63]),
        ([1, 2j], lm.complex64, [1, 2j]),
        ([], lm.float32, []),
        ([[], []], lm.float32, [[], []]),
        (((1, 2), [3, 4]), lm.int32, [[1, 2], [3, 4]]),
        ([[[1]], [[2]]], lm.int32, [[[1]], [[2]]]),
        (np.float64(3), lm.float32, 3.0),
        (np.int8(3), lm.int8, 3),
        ([np.int8(1), np.int8(2)], lm.int8, [1, 2]),
        ([np.float64(1), 2], lm.float32, [1.0, 2.0]),
        (np.arange(3), lm.int64, [0, 1, 2]),
        (np.array([1.5, 2.5]), lm.float32, [1.5, 2.5]),
        (np.array([1 + 2j]), lm.complex64, [1 + 2j]),
        (np.array([1, 2], ">i4"), lm.int32, [1, 2]),
        (np.arange(6).reshape(2, 3)[:, ::-2], lm.int64, [[2, 0], [5, 3]]),
    ],
)
def test_dtypes_and_values(data: Any, dtype: lm.Dtype, values: Any) -> None:
    a = lm.array(data)
    assert a.dtype is dtype
    assert a.shape == np.shape(values)
    assert a.tolist() == values


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_dtype_from_numpy_and_back(dtype: lm.Dtype) -> None:
    values = np.array([[0, 1], [1, 3]]).astype(dtype.numpy)
    a = lm.array(values, dtype)
    assert a.dtype is dtype
    back = np.array(a)
    assert back.dtype == dtype.numpy
    assert np.array_equal(back, values)
    if dtype is not lm.float64:
        assert lm.array(values).dtype is dtype


def test_dtype_argument() -> None:
    assert lm.array([300, -1], lm.uint8).tolist() == [44, 255]
    saturated = lm.array([1.7, -2.7, 1e10, float("nan")], lm.int8)
    assert saturated.tolist() == [1, -2, 127, 0]
    assert lm.array([0.1], lm.float64).item() == 0.1
    assert lm.array([1, 0, 2], dtype=lm.bool_).tolist() == [True, False, True]
    assert lm.array(np.array([0.1]), lm.float64).item() == 0.1
    assert lm.array(lm.array([1.5]), lm.int32).tolist() == [1]
    for wrong in (np.float32, float, "float32"):
        with pytest.raises(TypeError, match="must be one of Lamina's"):
            lm.array([1], wrong)  # pyright: ignore[reportArgumentType]


def test_lists_that_hold_arrays() -> None:
    row = lm.array([1, 2])
    assert lm.array([row, lm.array([3.0, 4.0])]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert lm.array([row, [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert lm.array([[3, 4], row]).tolist() == [[3, 4], [1, 2]]
    assert lm.array([[lm.array(1), 2], [3, lm.array(4.5)]]).tolist() == [[1, 2], [3, 4.5]]
    assert lm.array([row], lm.float16).dtype is lm.float16
    with pytest.raises(ValueError, match="must have one shape"):
        lm.array([row, lm.array([1, 2, 3])])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([[1, 2], [3]], r"the list at \[1\] has length 1, others there have 2"),
        ([[1, 2], 3], r"int at \[1\], others there are a list"),
        ([1, [2]], r"a list at \[1\], others there are int"),
        ([[[1], [2]], [[3], [4, 5]]], r"the list at \[1\]\[1\] has length 2"),
        ([[], [1]], r"the list at \[1\] has length 1, others there have 0"),
    ],
)
def test_ragged_lists_are_refused_with_the_path(data: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text) as info:
        lm.array(data)
    assert isinstance(info.value, lm.LaminaError)
    assert "test_conversion.py" in str(info.value)


def test_lists_that_hold_themselves_are_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        lm.array(endless)


@pytest.mark.parametrize("data", ["abc", None, {1: 2}, {1}, range(3), object()])
def test_other_data_is_refused(data: Any) -> None:
    with pytest.raises(TypeError, match=r"array: takes numbers.*test_conversion\.py"):
        lm.array(data)


def test_numpy_dtypes_without_an_equal_are_refused() -> None:
    for data in (np.array(["a"]), np.array([object()]), np.array(["2020"], "datetime64[Y]")):
        with pytest.raises(TypeError, match="arrays cannot hold NumPy's dtype"):
            lm.array(data)


def test_integers_out_of_every_range_are_refused() -> None:
    with pytest.raises(ValueError, match="out of range of every dtype"):
        lm.array(2**64)
    with pytest.raises(ValueError, match="no integer dtype holds both -1 and"):
        lm.array([-1, 2**63])
    assert lm.array([2**64 + 5], lm.uint8).tolist() == [5]


def test_arrays_share_no_memory_with_numpy() -> None:
    source = np.array([1, 2, 3], np.int32)
    a = lm.array(source)
    source[0] = 9
    assert a.tolist() == [1, 2, 3]
    copy = np.array(a)
    copy[0] = 9
    assert a.tolist() == [1, 2, 3]


def test_views_for_numpy_are_read_only_for_good() -> None:
    a = lm.array([1, 2, 3])
    view = np.asarray(a)
    assert np.shares_memory(view, np.asarray(a))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 9
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    a += 1
    assert view.tolist() == [1, 2, 3]
    assert np.array(a, copy=True).flags.writeable


def test_copy_argument_of_array_protocol() -> None:
    a = lm.array([1, 2, 3])
    assert not np.shares_memory(a.__array__(copy=True), a.__array__())
    assert a.__array__(np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="needs a copy"):
        a.__array__(np.float32, copy=False)
    assert np.asarray(lm.zeros((0, 3))).shape == (0, 3)


def test_asarray() -> None:
    a = lm.array([1, 2])
    assert lm.asarray(a) is a
    assert lm.asarray(a, copy=True) is not a
    assert lm.asarray(a, lm.float32).dtype is lm.float32
    assert lm.asarray([1, 2]).tolist() == [1, 2]
    assert lm.asarray(2.5, lm.float16).dtype is lm.float16
    with pytest.raises(ValueError, match="without a copy"):
        lm.asarray(np.array([1]), copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        lm.asarray(a, lm.float32, copy=False)


def test_objects_with_the_array_protocol() -> None:
    class Holder:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([1.5, 2.5])

    assert lm.array(Holder()).tolist() == [1.5, 2.5]
