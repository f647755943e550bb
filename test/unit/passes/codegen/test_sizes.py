"""Maps and products at the sizes where vectors, chunks and tiles end, through views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.dialects import dtypes
from lamina.passes.schedule.contraction import BLOCK_COLUMNS, BLOCK_ROWS
from lamina.passes.schedule.loops import (
    CHUNK_BYTES,
    SERIAL_BYTES,
    STREAMING_BYTES,
    TILE_CHUNK,
    TILE_ROWS,
)

SIZES = [0, 1, 2, 15, 16, 17, 31, 33, 511, 512, 513, 16383, 16385, 65535, 65537]
SIZES += [CHUNK_BYTES // 4, CHUNK_BYTES // 4 + 1, SERIAL_BYTES // 4 + 3]


def _values(shape: tuple[int, ...], dtype: Any = dtypes.float32) -> np.ndarray:
    random = np.random.default_rng(len(shape))
    if dtype.kind in ("signed", "unsigned", "bool"):
        return random.integers(0, 2, shape).astype(dtype.numpy)
    return random.normal(0, 1, shape).astype(dtype.numpy)


@pytest.mark.parametrize("size", SIZES)
def test_maps_of_one_axis(laws: Any, native: Any, size: int) -> None:
    for dtype in (dtypes.float32, dtypes.bfloat16, dtypes.bool_, dtypes.complex64, dtypes.float64):
        draft = laws.Draft(((size,), dtype), ((1,), dtype))
        op = draft.bitwise_xor if dtype.kind == "bool" else draft.add
        outputs = [op(0, draft.broadcast(1, shape=(size,)))]
        if size > 2:
            every = draft.slice_(0, start=(size - 1,), size=((size + 1) // 2,), step=(-2,))
            outputs.append(op(every, every))
        inputs = [_values((size,), dtype), _values((1,), dtype)]
        for path in ("graph", "operation"):
            for actual, expected in native.both(draft.program(*outputs), inputs, path):
                laws.assert_same_bits(actual, expected)


@pytest.mark.parametrize(
    "shape",
    [
        (1, 70), (70, 1), (TILE_ROWS, TILE_ROWS), (TILE_ROWS + 1, 33), (TILE_ROWS - 1, 33),
        (33, TILE_CHUNK + 1), (TILE_CHUNK - 1, TILE_CHUNK + 1), (3, 5, 40), (20, 1, 21),
        (17, 18, 19),
    ],
    ids=str,
)  # fmt: skip
def test_transposes(laws: Any, native: Any, shape: tuple[int, ...]) -> None:
    axes = tuple(reversed(range(len(shape))))
    for dtype in (dtypes.float32, dtypes.uint8, dtypes.float64, dtypes.complex64):
        draft = laws.Draft((shape, dtype), (shape[::-1], dtype))
        turned = draft.transpose(0, permutation=axes)
        rolled = draft.transpose(0, permutation=(*axes[1:], axes[0]))
        outputs = [turned, draft.add(turned, 1), rolled]
        inputs = [_values(shape, dtype), _values(shape[::-1], dtype)]
        for actual, expected in native.both(draft.program(*outputs), inputs):
            laws.assert_same_bits(actual, expected)


@pytest.mark.parametrize("columns", [1, 3, 16, 17, 1000, 1001])
def test_stores_past_the_caches(laws: Any, native: Any, columns: int) -> None:
    rows = STREAMING_BYTES // 4 // columns + 3
    draft = laws.Draft(((rows, columns), dtypes.float32), ((1, columns), dtypes.float32))
    wide = draft.broadcast(1, shape=(rows, columns))
    inputs = [_values((rows, columns)), _values((1, columns))]
    for actual, expected in native.both(draft.program(draft.multiply(0, wide)), inputs):
        laws.assert_same_bits(actual, expected)


@pytest.mark.parametrize(
    "sizes",
    [
        (1, 1, 1), (1, 7, 5), (7, 5, 1), (5, 1, 7), (3, 0, 4), (0, 3, 4), (3, 4, 0),
        (BLOCK_ROWS + 1, 3, BLOCK_COLUMNS + 1), (BLOCK_ROWS - 1, 70, BLOCK_COLUMNS // 2 + 1),
        (2, 300, 600),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 3)], ids=str)
def test_products(laws: Any, native: Any, sizes: Any, batch: tuple[int, ...]) -> None:
    rows, depth, columns = sizes
    if len(batch) and rows * columns > 10_000:
        batch = batch[:1]
    left, right = (*batch, rows, depth), (*batch, depth, columns)
    rank = len(left)
    swap = (*range(rank - 2), rank - 1, rank - 2)
    for dtype in (dtypes.float32, dtypes.bfloat16, dtypes.float64, dtypes.int32, dtypes.complex64):
        if dtype.kind in ("signed", "complex") and rows * depth * columns > 100_000:
            continue
        draft = laws.Draft((left, dtype), (right[:-2] + right[:-3:-1], dtype))
        product = draft.matmul(0, draft.transpose(1, permutation=swap))
        outputs = [draft.negative(product)]
        if dtype is dtypes.float32:
            outputs.append(draft.maximum(draft.tanh(product), draft.like(0.25, product)))
        inputs = [_values(left, dtype), np.swapaxes(_values(right, dtype), -1, -2)]
        inputs = [np.ascontiguousarray(values) for values in inputs]
        for actual, expected in native.both(draft.program(*outputs), inputs):
            assert actual.shape == expected.shape
            if dtype.kind == "signed":
                np.testing.assert_array_equal(actual, expected)
            else:
                eps = 1e-2 if dtype.size == 2 else 1e-4
                a, b = actual.astype(np.complex128), expected.astype(np.complex128)
                np.testing.assert_allclose(a, b, eps, eps * max(depth, 1) ** 0.5)
