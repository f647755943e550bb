"""The promotion table, pinned, and the rules for Python numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamina as lm

NAMES = (
    "bool_", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64",
)  # fmt: skip
DTYPES = [getattr(lm, name) for name in NAMES]

# Row by row in the order of NAMES: what an operand of the row's dtype and one of the column's give.
TABLE = """
bool  u8    u16   u32   u64   i8    i16   i32   i64   f16   bf16  f32   f64   c64
u8    u8    u16   u32   u64   i16   i16   i32   i64   f16   bf16  f32   f64   c64
u16   u16   u16   u32   u64   i32   i32   i32   i64   f16   bf16  f32   f64   c64
u32   u32   u32   u32   u64   i64   i64   i64   i64   f16   bf16  f32   f64   c64
u64   u64   u64   u64   u64   f32   f32   f32   f32   f16   bf16  f32   f64   c64
i8    i16   i32   i64   f32   i8    i16   i32   i64   f16   bf16  f32   f64   c64
i16   i16   i32   i64   f32   i16   i16   i32   i64   f16   bf16  f32   f64   c64
i32   i32   i32   i64   f32   i32   i32   i32   i64   f16   bf16  f32   f64   c64
i64   i64   i64   i64   f32   i64   i64   i64   i64   f16   bf16  f32   f64   c64
f16   f16   f16   f16   f16   f16   f16   f16   f16   f16   f32   f32   f64   c64
bf16  bf16  bf16  bf16  bf16  bf16  bf16  bf16  bf16  f32   bf16  f32   f64   c64
f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   f32   f64   c64
f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   f64   c64
c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize("row", range(len(DTYPES)), ids=NAMES)
def test_arrays_promote_by_the_table(row: int) -> None:
    a = lm.zeros((2,), DTYPES[row])
    for column, dtype in enumerate(DTYPES):
        want = ROWS[row][column]
        assert lm.result_type(DTYPES[row], dtype).short == want
        assert lm.maximum(a, lm.zeros((2,), dtype)).dtype.short == want
        assert lm.can_cast(DTYPES[row], dtype) == (want == dtype.short)


def weak(dtype: lm.Dtype) -> list[str]:
    """The dtypes with True, 1, 1.0 and 1j, in short."""
    floating = dtype.short if dtype.is_inexact else "f32"
    integer = "i32" if dtype is lm.bool_ else dtype.short
    return [dtype.short, integer, floating, "c64"]


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
def test_python_numbers_are_weak(dtype: lm.Dtype) -> None:
    a = lm.ones((2,), dtype)
    numbers: list[Any] = [True, 1, 1.0, 1j]
    assert [(a + x).dtype.short for x in numbers] == weak(dtype)
    assert [(x + a).dtype.short for x in numbers] == weak(dtype)
    scalars = [np.bool_(True), np.int64(1), np.float64(1), np.float32(1), np.complex64(1j)]
    want = weak(dtype)
    assert [(a + x).dtype.short for x in scalars] == [*want[:3], want[2], want[3]]


def test_rank_0_arrays_are_not_weak() -> None:
    assert (lm.array([1], lm.int8) + lm.array(1)).dtype is lm.int32
    assert (lm.array([1], lm.float16) + lm.array(1.0)).dtype is lm.float32


def test_two_numbers() -> None:
    assert lm.add(True, True).dtype is lm.bool_
    assert lm.add(1, True).dtype is lm.int32
    assert lm.add(1, 2.0).dtype is lm.float32
    assert lm.add(1, 2**40).dtype is lm.int64
    assert lm.add(1j, 1).dtype is lm.complex64


@pytest.mark.parametrize(
    ("dtype", "number"),
    [(lm.int8, 128), (lm.int8, -129), (lm.uint8, -1), (lm.uint8, 256), (lm.int32, 2**31)],
)
def test_integers_out_of_range_are_refused(dtype: lm.Dtype, number: int) -> None:
    a = lm.ones((2,), dtype)
    with pytest.raises(ValueError, match=rf"add.*{number} is out of range of {dtype.name}") as info:
        a + number
    assert isinstance(info.value, lm.LaminaError)
    assert "test_promotion.py" in str(info.value)


def test_integers_take_the_dtype_of_float_arrays() -> None:
    assert (lm.ones((1,), lm.float16) + 100_000).item() == float("inf")
    assert (lm.ones((1,)) + 10**400).item() == float("inf")
    assert (lm.array([True]) + 2**40).dtype is lm.int64


def test_result_type() -> None:
    a = lm.zeros((2,), lm.int8)
    assert lm.result_type(a) is lm.int8
    assert lm.result_type(a, lm.float16, lm.bfloat16) is lm.float32
    assert lm.result_type(a, 1.0) is lm.float32
    assert lm.result_type(np.zeros(2, np.float64), a) is lm.float64
    with pytest.raises(ValueError, match="at least one"):
        lm.result_type()
    with pytest.raises(TypeError, match="takes arrays and dtypes, got str"):
        lm.result_type("float32")
