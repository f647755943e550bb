"""Reductions and scans that are known, merge, or stay."""

from __future__ import annotations

import numpy as np
import pytest

from lamina.dialects import dtypes

F32, I32, U8, BOOL = dtypes.float32, dtypes.int32, dtypes.uint8, dtypes.bool_

SUMS = [("reduce_sum", F32), ("reduce_prod", F32), ("reduce_sum", I32), ("reduce_prod", I32)]
EXTREMES = [
    ("reduce_max", F32), ("reduce_min", F32), ("reduce_max", I32), ("reduce_min", U8),
    ("reduce_max", BOOL), ("reduce_and", BOOL), ("reduce_or", BOOL),
]  # fmt: skip
ALL = [*SUMS, *EXTREMES]
IDS = [f"{name} {dtype.short}" for name, dtype in ALL]


def values(laws, dtype, *shape):
    """Nasty values over a shape."""
    return np.resize(laws.nasty(dtype), shape)


@pytest.mark.parametrize(("name", "dtype"), ALL, ids=IDS)
@pytest.mark.parametrize(
    ("shape", "axes", "left"),
    [((3, 4), (), 0), ((1, 4), (0,), 0), ((1, 4, 1), (0, 2), 0), ((1, 18), (0, 1), 1)],
)
def test_axes_of_size_one(laws, name, dtype, shape, axes, left):
    draft = laws.Draft((shape, dtype))
    program = draft.program(getattr(draft, name)(0, axes=axes))
    simplified = laws.check(program, [values(laws, dtype, *shape)])
    assert laws.names(simplified) == [name] * left


@pytest.mark.parametrize(("name", "dtype"), ALL, ids=IDS)
def test_a_reduction_of_a_reduction(laws, name, dtype):
    draft = laws.Draft(((3, 4, 5), dtype))
    inner = getattr(draft, name)(0, axes=(2,))
    program = draft.program(getattr(draft, name)(inner, axes=(0,)))
    simplified = laws.check(program, [values(laws, dtype, 3, 4, 5)])
    stays = (name, dtype) in SUMS and dtype is F32
    assert laws.names(simplified) == [name] * (2 if stays else 1)


@pytest.mark.parametrize(("name", "dtype"), ALL, ids=IDS)
def test_a_reduction_of_a_constant(laws, name, dtype):
    kept = {
        "bool": [False, True],
        "unsigned": [0, 1],
        "signed": [0, 1, -1],
        "floating": [0.0, -0.0],
    }
    draft = laws.Draft()
    outputs = [
        getattr(draft, name)(draft.splat(value, shape, dtype), axes=(0,))
        for value in kept[dtype.kind]
        for shape in [(2, 3), (2,)]
    ]
    simplified = laws.check(draft.program(*outputs), [])
    if (name, dtype) in EXTREMES:
        assert laws.names(simplified) == []
    if dtype is F32 and (name, dtype) in SUMS:
        assert laws.names(simplified) == [name] * len(outputs)


def test_a_count_that_would_be_a_literal_stays(laws):
    draft = laws.Draft()
    ones = draft.splat(1, (1000,), I32)
    two = draft.splat(1, (2,), I32)
    program = draft.program(draft.reduce_sum(ones, axes=(0,)), draft.reduce_sum(two, axes=(0,)))
    assert laws.names(laws.check(program, [])) == ["reduce_sum"]


@pytest.mark.parametrize(("name", "dtype"), EXTREMES, ids=IDS[len(SUMS) :])
def test_an_extreme_of_a_broadcast(laws, name, dtype):
    draft = laws.Draft(((1, 4, 1), dtype))
    wide = draft.broadcast(0, shape=(3, 4, 5))
    program = draft.program(
        getattr(draft, name)(wide, axes=(0, 2)), getattr(draft, name)(wide, axes=(0, 1))
    )
    simplified = laws.check(program, [values(laws, dtype, 1, 4, 1)])
    assert laws.names(simplified) == ["broadcast", name]


def test_the_identity_of_empty_reductions(laws):
    draft = laws.Draft(((2, 0), F32), ((2, 0), BOOL))
    program = draft.program(
        draft.reduce_sum(0, axes=(1,)), draft.reduce_prod(0, axes=(1,)),
        draft.reduce_and(1, axes=(1,)), draft.reduce_or(1, axes=(1,)),
    )  # fmt: skip
    inputs = [np.zeros((2, 0), np.float32), np.zeros((2, 0), np.bool_)]
    assert laws.names(laws.check(program, inputs)) == []


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(laws, name):
    draft = laws.Draft(((3, 1), F32))
    program = draft.program(
        getattr(draft, name)(0, axis=1), getattr(draft, name)(draft.splat(0.0, (4,), F32), axis=0),
        getattr(draft, name)(0, axis=0),
    )  # fmt: skip
    simplified = laws.check(program, [values(laws, F32, 3, 1)])
    assert laws.names(simplified) == [name]


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
def test_scans_of_one(laws, name):
    draft = laws.Draft(((18, 1), F32))
    program = draft.program(
        getattr(draft, name)(0, axis=1, reverse=False, inclusive=True),
        getattr(draft, name)(0, axis=1, reverse=True, inclusive=False),
    )
    simplified = laws.check(program, [values(laws, F32, 18, 1)])
    assert laws.names(simplified) == [name]
