"""Machine code of every elementwise primitive in every dtype against the reference."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lamina.dialects import dtypes
from lamina.dialects.dtypes import DType
from lamina.dialects.primitive import TABLE, Primitive, TensorType
from lamina.errors import LaminaError
from lamina.passes import math

APPROXIMATE = frozenset(math.FUNCTIONS) - {"floor_divide", "remainder"}
PYTHON_NAMES = {"abs": "abs_", "complex": "complex_"}


def _accepts(primitive: Primitive, operands: tuple[TensorType, ...]) -> bool:
    try:
        primitive.rule(operands, ())
    except LaminaError:
        return False
    return True


def _primitives(dtype: DType, count: int) -> list[str]:
    """The names of the primitives that take ``count`` operands of a dtype and no attributes."""
    types = (TensorType((4,), dtype),) * count
    return [
        primitive.name
        for primitive in TABLE.values()
        if primitive.kind == "elementwise"
        and len(primitive.operands) == count
        and not primitive.attributes
        and _accepts(primitive, types)
    ]


def _problem(
    laws: Any, native: Any, name: str, dtype: DType, columns: list[np.ndarray], pair: Any
) -> str | None:
    """What is wrong with a result, if anything."""
    actual, expected = pair
    if name == "logaddexp":
        # Where the terms cancel the error is that of the larger one.
        eps = float(ml_dtypes.finfo(dtype.numpy).eps)
        with np.errstate(all="ignore"):
            a, b, wide, exact = (part.astype(np.float64) for part in (*columns, actual, expected))
            near = np.abs(wide - exact) <= 2.5 * eps * (np.abs(a) + np.abs(b))
        actual, expected = actual[~near], expected[~near]
    if name in APPROXIMATE and dtype.kind == "floating":
        limit = 1.0 if dtype.size == 2 else math.STATED_ULPS[name][f"f{8 * dtype.size}"] + 0.5
        # The reference of f64 is NumPy's, which is not exact either.
        limit += 1.0 if dtype.size == 8 else 0.0
        distance = native.ulps(actual, expected, dtype)
        worst = int(distance.argmax()) if len(distance) else 0
        if len(distance) and distance[worst] > limit:
            return f"{name}: {actual[worst]!r} instead of {expected[worst]!r}, entry {worst}"
        return None
    if name == "divide" and dtype.kind == "complex":
        # Only real quotients are correctly rounded.
        with np.errstate(all="ignore"):
            near = np.abs(actual - expected) <= 1e-6 * np.abs(expected)
        actual, expected = actual[~near], expected[~near]
    try:
        laws.assert_same_bits(actual, expected)
    except AssertionError as error:
        return f"{name}: {str(error).splitlines()[0]}"
    return None


def _problems(laws: Any, native: Any, dtype: DType, columns: list[np.ndarray]) -> list[str]:
    """Runs every primitive of as many operands as there are columns, in one program."""
    names = _primitives(dtype, len(columns))
    draft = laws.Draft(*[(column.shape, dtype) for column in columns])
    operands = range(len(columns))
    outputs = [getattr(draft, PYTHON_NAMES.get(name, name))(*operands) for name in names]
    pairs = native.both(draft.program(*outputs), columns) if outputs else []
    found = [
        _problem(laws, native, name, dtype, columns, pair)
        for name, pair in zip(names, pairs, strict=True)
    ]
    return [problem for problem in found if problem is not None]


@pytest.mark.parametrize("count", [1, 2])
def test_nasty_values_in_every_primitive(laws: Any, native: Any, dtype: DType, count: int) -> None:
    # NumPy divides an infinity and NaN among complex numbers otherwise.
    columns = laws.combinations(*[dtype] * count)
    if dtype.kind == "complex" and count == 2:
        keep = np.all([np.isfinite(column) for column in columns], axis=0)
        columns = [column[keep] for column in columns]
    assert _problems(laws, native, dtype, columns) == []


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "dtype", [d for d in dtypes.ALL if d.kind == "floating"], ids=lambda dtype: dtype.name
)
def test_floats_of_all_magnitudes(laws: Any, native: Any, dtype: DType, count: int) -> None:
    random = np.random.default_rng(7)
    word = {2: np.uint16, 4: np.uint32, 8: np.uint64}[dtype.size]
    size = 1501
    columns: list[np.ndarray] = []
    for _ in range(count):
        bits = random.integers(0, np.iinfo(word).max, size, dtype=word)
        ordinary = random.normal(0, 3, size).astype(dtype.numpy)
        columns.append(np.where(random.random(size) < 0.3, bits.view(dtype.numpy), ordinary))
    assert _problems(laws, native, dtype, columns) == []


@pytest.mark.parametrize("signed", [True, False], ids=["int8", "uint8"])
def test_all_pairs_of_bytes_in_every_primitive(laws: Any, native: Any, signed: bool) -> None:
    dtype = dtypes.int8 if signed else dtypes.uint8
    limits = np.iinfo(dtype.numpy)
    every = np.arange(limits.min, limits.max + 1).astype(dtype.numpy)
    columns = [np.repeat(every, 256), np.tile(every, 256)]
    assert _problems(laws, native, dtype, columns) == []
    assert _problems(laws, native, dtype, columns[1:]) == []


@pytest.mark.slow
def test_all_numbers_of_two_bytes_in_every_primitive(laws: Any, native: Any) -> None:
    for dtype in dtypes.ALL:
        if dtype.size == 2:
            every = np.arange(1 << 16, dtype=np.uint16).view(dtype.numpy)
            assert _problems(laws, native, dtype, [every]) == []


@pytest.mark.parametrize("source", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_casts_between_all_dtypes(laws: Any, native: Any, source: DType) -> None:
    values = laws.nasty(source)
    if source.kind != "complex":
        # What other dtypes end at and the halves between integers.
        ends = [
            laws.nasty(other).astype(np.float64)
            for other in dtypes.ALL
            if other.size < 8 and other.kind != "complex"
        ]
        steps = np.concatenate(
            [np.arange(-3, 3, 0.25), *ends, 2.0 ** np.arange(70), -(2.0 ** np.arange(70))]
        )
        with np.errstate(all="ignore"):
            near = np.concatenate(
                [steps, np.nextafter(steps, np.inf), np.nextafter(steps, -np.inf)]
            )
            if source.kind == "floating":
                more = near.astype(source.numpy)
            elif source.is_integer:
                limits = np.iinfo(source.numpy)
                inside = [
                    int(step)
                    for step in near
                    if np.isfinite(step) and limits.min <= int(step) <= limits.max
                ]
                more = np.array(inside, source.numpy)
            else:
                more = values
        values = np.concatenate([values, more])
    targets = [target for target in dtypes.ALL if target is not source]
    draft = laws.Draft((values.shape, source))
    outputs = [draft.cast(0, dtype=target) for target in targets]
    problems: list[str] = []
    pairs = native.both(draft.program(*outputs), [values])
    for target, (actual, expected) in zip(targets, pairs, strict=True):
        try:
            laws.assert_same_bits(actual, expected)
        except AssertionError as error:
            problems.append(f"{source.name} to {target.name}: {str(error).splitlines()[0]}")
    assert problems == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_casts_of_all_small_numbers(laws: Any, native: Any, size: int) -> None:
    word = {1: np.uint8, 2: np.uint16}[size]
    every = np.arange(1 << (8 * size)).astype(word)
    for source in dtypes.ALL:
        if source.size == size and source.kind != "bool":
            values = every.view(source.numpy)
            draft = laws.Draft((values.shape, source))
            outputs = [draft.cast(0, dtype=target) for target in dtypes.ALL if target is not source]
            for actual, expected in native.both(draft.program(*outputs), [values]):
                laws.assert_same_bits(actual, expected)


def test_bitcasts_keep_bits(laws: Any, native: Any) -> None:
    for source, target in itertools.permutations(dtypes.ALL, 2):
        if source.size != target.size or target.kind == "bool":
            continue
        values = laws.nasty(source)
        draft = laws.Draft((values.shape, source))
        ((actual, expected),) = native.both(
            draft.program(draft.bitcast(0, dtype=target)), [values], "operation"
        )
        laws.assert_same_bits(actual, expected)


def test_select_in_every_dtype(laws: Any, native: Any, dtype: DType) -> None:
    condition, a, b = laws.combinations(dtypes.bool_, dtype, dtype)
    draft = laws.Draft((a.shape, dtypes.bool_), (a.shape, dtype), (a.shape, dtype))
    ((actual, expected),) = native.both(draft.program(draft.select(0, 1, 2)), [condition, a, b])
    laws.assert_same_bits(actual, expected)


def test_complex_numbers_from_their_parts(laws: Any, native: Any) -> None:
    a, b = laws.combinations(dtypes.float32, dtypes.float32)
    draft = laws.Draft((a.shape, dtypes.float32), (a.shape, dtypes.float32))
    ((actual, expected),) = native.both(draft.program(draft.complex_(0, 1)), [a, b])
    laws.assert_same_bits(actual, expected)


@pytest.mark.parametrize(
    "dtype", [d for d in dtypes.ALL if d.kind not in ("bool", "complex")], ids=lambda d: d.name
)
def test_positions_along_every_axis(laws: Any, native: Any, dtype: DType) -> None:
    draft = laws.Draft()
    outputs = [draft.iota(shape=(3, 70, 5), dtype=dtype, axis=axis) for axis in range(3)]
    outputs.append(draft.iota(shape=(5000,), dtype=dtype, axis=0))
    for actual, expected in native.both(draft.program(*outputs), []):
        laws.assert_same_bits(actual, expected)


def test_constants_keep_their_bits(laws: Any, native: Any, dtype: DType) -> None:
    """Values that are part of the code and values that are operands of it."""
    draft = laws.Draft()
    values = laws.nasty(dtype)
    outputs = [
        draft.splat(value.item() if dtype.name != "bfloat16" else float(value), (19,), dtype)
        for value in values
    ]
    for actual, expected in native.both(draft.program(*outputs), []):
        laws.assert_same_bits(actual, expected)
