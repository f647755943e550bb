"""Programs made explicit compute the same, and write only what nobody else reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.dialects import dtypes, ops, reference
from lamina.dialects.program import Program
from lamina.passes.fusion.explicit import make_explicit


def check(laws: Any, program: Program, inputs: list[np.ndarray]) -> Program:
    explicit = make_explicit(program)
    for actual, expected in zip(
        reference.run(explicit, inputs), reference.run(program, inputs), strict=True
    ):
        laws.assert_same_bits(np.asarray(actual), np.asarray(expected))
    first = len(explicit.inputs)
    readers: dict[int, int] = {}
    for instruction in explicit.instructions:
        assert instruction.primitive not in (ops.pad, ops.concatenate)
        for operand in instruction.operands:
            readers[operand] = readers.get(operand, 0) + 1
    for value in explicit.outputs:
        readers[value] = readers.get(value, 0) + 1
    for instruction in explicit.instructions:
        if instruction.primitive is ops.slice_update:
            target = instruction.operands[0]
            assert target >= first
            assert readers[target] == 1
            assert explicit.instructions[target - first].primitive.kind != "view"
        if instruction.primitive is ops.matmul:
            assert instruction.type.dtype.name in ("float32", "float64")
    return explicit


def _values(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype.numpy)


def test_pads_and_concatenations(laws: Any, dtype: Any) -> None:
    shapes = [(2, 3), (2, 0), (2, 3)]
    draft = laws.Draft(*[(shape, dtype) for shape in shapes])
    number = {"bool": True, "complex": 1j, "floating": 7.5}.get(dtype.kind, 7)
    fill = draft.constant(value=number, dtype=dtype)
    outputs = [
        draft.concatenate(0, 1, 2, 0, axis=1),
        draft.concatenate(1, 1, axis=1),
        draft.concatenate(0, axis=0),
        draft.pad(0, fill, low=(0, 2), high=(1, 0)),
        draft.pad(1, fill, low=(0, 2), high=(0, 0)),
        draft.pad(1, fill, low=(0, 0), high=(0, 0)),
    ]
    check(laws, draft.program(*outputs), [_values(shape, dtype) for shape in shapes])


def test_updates_of_inputs_views_constants_and_shared_values(laws: Any) -> None:
    f32 = dtypes.float32
    draft = laws.Draft(((4, 4), f32), ((2, 2), f32))

    def update(target: int) -> int:
        return draft.slice_update(target, 1, start=(1, 3), step=(2, -2))

    shared = draft.exp(0)
    outputs = [
        update(0),
        update(draft.transpose(0, permutation=(1, 0))),
        update(draft.splat(2.0, (4, 4), f32)),
        update(shared),
        draft.negative(shared),
        update(draft.floor(0)),
        update(update(0)),
    ]
    kept = update(draft.ceil(0))
    outputs += [update(kept), kept]
    explicit = check(laws, draft.program(*outputs), [_values((4, 4), f32), _values((2, 2), f32)])
    fresh = [each for each in explicit.instructions if each.primitive is ops.empty]
    # None for floor and ceil, whose values only the update reads.
    assert len(fresh) == 6


@pytest.mark.parametrize("shape", [((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 1)), ((2, 0), (0, 3))])
def test_products(laws: Any, dtype: Any, shape: Any) -> None:
    if dtype.kind == "bool":
        return
    draft = laws.Draft(*[(each, dtype) for each in shape])
    program = draft.program(draft.matmul(0, 1))
    check(laws, program, [_values(each, dtype) for each in shape])


def test_locations_stay_with_the_ops(laws: Any) -> None:
    draft = laws.Draft(((4,), dtypes.float32))
    program = draft.program(draft.negative(draft.concatenate(0, 0, axis=0)))
    explicit = make_explicit(program)
    places = {
        instruction.primitive: place
        for instruction, place in zip(explicit.instructions, explicit.locations, strict=True)
    }
    assert places[ops.slice_update] == program.locations[0]
    assert places[ops.negative] == program.locations[1]
