"""Reductions and scans around the sizes at which schedules change, in every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.dialects import dtypes
from lamina.dialects.dtypes import DType
from lamina.dialects.primitive import TABLE, TensorType
from lamina.errors import LaminaError
from lamina.passes.schedule.loops import (
    COLUMN_CHUNK,
    COLUMN_SPLIT,
    COLUMN_TILE,
    ROW_CHUNK,
    ROW_SPLIT,
)

ROWS = [1, 2, 15, 16, 17, 31, 33, 63, 65, 511, 513, ROW_CHUNK - 1, ROW_CHUNK + 1, ROW_SPLIT + 1]
SHAPES = [
    *[((n,), (0,)) for n in ROWS],
    *[((3, n), (1,)) for n in (1, 17, 127, ROW_CHUNK + 1)],
    *[((20, n), (1,)) for n in (33, ROW_SPLIT // 8)],
    *[((n, 3), (0,)) for n in (1, 5, COLUMN_CHUNK, COLUMN_CHUNK + 1, COLUMN_SPLIT + 1)],
    *[((n, COLUMN_TILE + 1), (0,)) for n in (2, COLUMN_CHUNK + 3)],
    ((5, 6, 7), (0, 2)),
    ((5, 6, 7), (1,)),
    ((5, 1, 7), (1,)),
    ((4, 300, 5), (0, 1)),
    ((2, 3, 4, 5), (1, 3)),
    ((2, 3), ()),
]


def _names(kind: str, dtype: DType) -> list[str]:
    names: list[str] = []
    for primitive in TABLE.values():
        attributes: tuple[Any, ...] = ((1,),) if kind == "reduction" else (1, False, True)
        if primitive.kind != kind or primitive.name.startswith("arg"):
            continue
        try:
            primitive.rule((TensorType((2, 3), dtype),), attributes)
        except LaminaError:
            continue
        names.append(primitive.name)
    return names


def _values(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> np.ndarray:
    """Values whose sums and products stay finite, with ties."""
    random = np.random.default_rng(seed)
    if dtype.kind == "bool":
        return random.random(shape) < 0.7
    if dtype.is_integer:
        limits = np.iinfo(dtype.numpy)
        return random.integers(limits.min, limits.max, shape, dtype.numpy, endpoint=True)
    values = random.normal(0.1, 1, shape).round(1)
    if dtype.kind == "complex":
        values = values + 1j * random.normal(0, 1, shape).round(1)
    return values.astype(dtype.numpy)


def assert_close(actual: np.ndarray, expected: np.ndarray, dtype: DType, scale: Any) -> None:
    """Within a few roundings of the exact result, relative to the sum of magnitudes."""
    eps = {2: 1e-2 if dtype.name == "bfloat16" else 1e-3, 4: 1e-6, 8: 1e-6}[dtype.size]
    eps = 1e-14 if dtype.name == "float64" else eps
    wide = np.complex128 if dtype.kind == "complex" else np.float64
    error = np.abs(actual.astype(wide) - expected.astype(wide))
    assert (error <= eps * (scale + np.abs(expected.astype(wide)))).all(), error.max()


def _check(laws: Any, name: str, pair: Any, dtype: DType, values: np.ndarray, axes: Any) -> None:
    actual, expected = pair
    if name.endswith(("sum", "prod")) and dtype.is_inexact:
        wide = np.abs(values).astype(np.float64)
        scale = wide.sum(axes, keepdims=True) if name.endswith("sum") else 0.0
        if name.endswith("prod"):
            return assert_close_products(actual, expected, dtype)
        return assert_close(actual, expected, dtype, scale)
    laws.assert_same_bits(actual, expected)
    return None


def assert_close_products(actual: np.ndarray, expected: np.ndarray, dtype: DType) -> None:
    """Products over- and underflow; what lies between has small relative errors."""
    wide = np.complex128 if dtype.kind == "complex" else np.float64
    a, b = np.abs(actual.astype(wide)), np.abs(expected.astype(wide))
    tiny, huge = (1e-4, 1e4) if dtype.name == "float16" else (1e-30, 1e30)
    inside = (b > tiny) & (b < huge)
    eps = {2: 2e-2, 4: 2e-5, 8: 2e-5}[dtype.size]
    assert (np.abs(actual - expected)[inside] <= eps * b[inside]).all()
    assert (a[b >= huge] >= huge / 10).all()
    assert (a[b <= tiny] <= tiny * 10).all()


@pytest.mark.parametrize(("shape", "axes"), SHAPES, ids=str)
def test_reductions_of_all_sizes(
    laws: Any, native: Any, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    size = int(np.prod(shape))
    of = dtypes.ALL if size < 2000 else (dtypes.float32, dtypes.bfloat16, dtypes.int16)
    for dtype in of:
        values = _values(shape, dtype)
        names = _names("reduction", dtype)
        draft = laws.Draft((shape, dtype))
        outputs = [getattr(draft, name)(0, axes=axes) for name in names]
        positions: list[int] = []
        if dtype.kind != "complex" and len(axes) == 1:
            positions = [draft.argmax(0, axis=axes[0]), draft.argmin(0, axis=axes[0])]
        pairs = native.both(draft.program(*outputs, *positions), [values])
        for name, pair in zip(names, pairs, strict=False):
            _check(laws, name, pair, dtype, values, axes)
        for actual, expected in pairs[len(names) :]:
            laws.assert_same_bits(actual, expected)


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min", "argmax", "argmin"])
@pytest.mark.parametrize("shape", [(1, 40), (3, 33), (70000, 1), (33, 600), (1300, 5)], ids=str)
def test_extremes_see_nan_and_take_the_first(
    laws: Any, native: Any, name: str, shape: tuple[int, ...]
) -> None:
    random = np.random.default_rng(3)
    for dtype in (dtypes.float32, dtypes.float16):
        values = random.integers(-2, 3, shape).astype(dtype.numpy)
        values[random.random(shape) < 0.5] = -0.0
        broken = values.copy()
        broken[random.random(shape) < 0.01] = np.nan
        for given in (values, broken, np.full(shape, -np.inf, dtype.numpy)):
            for axis in range(2):
                draft = laws.Draft((shape, dtype))
                attributes = {"axis": axis} if name.startswith("arg") else {"axes": (axis,)}
                output = getattr(draft, name)(0, **attributes)
                for path in ("graph", "operation"):
                    ((actual, expected),) = native.both(draft.program(output), [given], path)
                    laws.assert_same_bits(actual, expected)


@pytest.mark.parametrize("shape", [(1,), (33,), (700,), (3, 40), (40, 3), (2, 5, 600)], ids=str)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("inclusive", [False, True])
def test_scans(
    laws: Any, native: Any, shape: tuple[int, ...], reverse: bool, inclusive: bool
) -> None:
    of = dtypes.ALL if shape == (3, 40) and reverse else (dtypes.bfloat16, dtypes.int32)
    for dtype in of:
        names = _names("scan", dtype)
        if not names:
            continue
        values = _values(shape, dtype)
        for axis in range(len(shape)):
            draft = laws.Draft((shape, dtype))
            outputs = [
                getattr(draft, name)(0, axis=axis, reverse=reverse, inclusive=inclusive)
                for name in names
            ]
            pairs = native.both(draft.program(*outputs), [values])
            for name, (actual, expected) in zip(names, pairs, strict=True):
                if name == "cumprod" and dtype.is_inexact:
                    assert_close_products(actual, expected, dtype)
                elif name == "cumsum" and dtype.is_inexact:
                    scale = np.abs(values).astype(np.float64).sum(axis, keepdims=True)
                    assert_close(actual, expected, dtype, scale)
                else:
                    laws.assert_same_bits(actual, expected)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod", "reduce_and", "reduce_or"])
def test_reductions_of_nothing_give_the_identity(laws: Any, native: Any, name: str) -> None:
    for dtype in dtypes.ALL:
        if name not in _names("reduction", dtype):
            continue
        cases = [((0,), (0,)), ((3, 0), (1,)), ((0, 40), (0,)), ((3, 0), (0,))]
        draft = laws.Draft(*[(shape, dtype) for shape, _ in cases])
        outputs = [getattr(draft, name)(i, axes=axes) for i, (_, axes) in enumerate(cases)]
        inputs = [np.empty(shape, dtype.numpy) for shape, _ in cases]
        for actual, expected in native.both(draft.program(*outputs), inputs, "operation"):
            laws.assert_same_bits(actual, expected)


@pytest.mark.parametrize("shape", [(1,), (16,), (33,), (70000,), (5, 600), (600, 5)], ids=str)
def test_sums_of_negative_zeros_are_negative(laws: Any, native: Any, shape: Any) -> None:
    values = np.full(shape, -0.0, np.float32)
    for axis in range(len(shape)):
        draft = laws.Draft((shape, dtypes.float32))
        outputs = [draft.reduce_sum(0, axes=(axis,))]
        outputs.append(draft.cumsum(0, axis=axis, reverse=False, inclusive=True))
        for actual, expected in native.both(draft.program(*outputs), [values]):
            laws.assert_same_bits(actual, expected)


def test_long_sums_keep_six_digits(native: Any, laws: Any) -> None:
    count = 1 << 24
    values = np.random.default_rng(0).random(count, dtype=np.float32)
    draft = laws.Draft(((count,), dtypes.float32))
    (total,) = native.run(draft.program(draft.reduce_sum(0, axes=(0,))), [values])
    assert abs(total[0] / values.sum(dtype=np.float64) - 1) < 1e-6
    draft = laws.Draft(((count // 64, 64), dtypes.float32))
    (totals,) = native.run(draft.program(draft.reduce_sum(0, axes=(0,))), [values.reshape(-1, 64)])
    exact = values.reshape(-1, 64).sum(0, dtype=np.float64)
    assert np.abs(totals[0] / exact - 1).max() < 1e-6
