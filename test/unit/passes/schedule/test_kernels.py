"""Kernels do not depend on sizes, and their keys are equal in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from math import prod
from typing import Any

import pytest

from lamina.dialects import dtypes
from lamina.dialects.program import Program
from lamina.passes import driver, eager
from lamina.passes.schedule.kernel import Kernel

F32 = dtypes.float32


def _softmax(laws: Any, shape: tuple[int, ...], axis: int = 1) -> Program:
    draft = laws.Draft((shape, F32))
    largest = draft.broadcast(draft.reduce_max(0, axes=(axis,)), shape=shape)
    powers = draft.exp(draft.subtract(0, largest))
    total = draft.broadcast(draft.reduce_sum(powers, axes=(axis,)), shape=shape)
    return draft.program(draft.divide(powers, total))


def _gelu(laws: Any, shape: tuple[int, ...]) -> Program:
    draft = laws.Draft((shape, F32))
    half, root = draft.splat(0.5, shape, F32), draft.splat(0.7071067811865476, shape, F32)
    one = draft.splat(1.0, shape, F32)
    erf = draft.erf(draft.multiply(0, root))
    return draft.program(draft.multiply(draft.multiply(0, half), draft.add(erf, one)))


def _linear(laws: Any, shape: tuple[int, ...]) -> Program:
    draft = laws.Draft((shape, F32), ((shape[1], 7), F32), ((1, 7), F32))
    bias = draft.broadcast(2, shape=(shape[0], 7))
    return draft.program(draft.tanh(draft.add(draft.matmul(0, 1), bias)))


def _kernels(program: Program) -> list[bytes]:
    return [launch.kernel.digest() for launch in eager.lower(program).launches]


@pytest.mark.parametrize("build", [_softmax, _gelu, _linear])
def test_other_sizes_need_no_other_kernels(laws: Any, build: Any) -> None:
    known = _kernels(build(laws, (40, 100)))
    for shape in [(41, 100), (40, 1000), (333, 77), (5, 64)]:
        assert _kernels(build(laws, shape)) == known


def test_equal_kernels_of_different_programs_are_one(laws: Any) -> None:
    one = laws.Draft(((64,), F32))
    other = laws.Draft(((5, 9), F32), ((5, 9), F32))
    first = one.program(one.exp(0))
    second = other.program(other.exp(1))
    assert _kernels(first) == _kernels(second)


def test_what_differs_in_code_differs_in_key(laws: Any) -> None:
    def kernel(value: float, dtype: Any = F32, name: str = "add") -> bytes:
        draft = laws.Draft(((64,), dtype))
        (digest,) = _kernels(draft.program(getattr(draft, name)(0, draft.like(value, 0))))
        return digest

    digests = [
        *[kernel(value) for value in (0.0, -0.0, 1.0, float("inf"))],
        kernel(1.0, dtypes.float64),
        kernel(1, dtypes.int32),
        kernel(1, dtypes.uint32),
        kernel(1.0, name="subtract"),
    ]
    assert len(set(digests)) == len(digests)
    # Lifted literals are operands.
    assert kernel(3.0) == kernel(4.5)


def test_zeros_of_both_signs_stay_apart_in_one_program(laws: Any) -> None:
    draft = laws.Draft(((64,), F32))
    plus, minus = (draft.add(0, draft.like(value, 0)) for value in (0.0, -0.0))
    launches = eager.lower(draft.program(plus, minus)).launches
    constants = [
        item.attributes
        for launch in launches
        if isinstance(launch.kernel, Kernel)
        for item in launch.kernel.items
        if item.name == "constant"
    ]
    assert sorted(constants) == [("00000000",), ("00000080",)]


SCRIPT = """
import sys
from lamina.dialects import dtypes, ops
from lamina.dialects.primitive import TensorType
from lamina.dialects.program import ProgramBuilder
from lamina.passes import driver, eager
shape = (40, 100)
type_, unit = TensorType(shape, dtypes.float32), TensorType((40, 1), dtypes.float32)
builder = ProgramBuilder((type_,))
largest = builder.add(ops.reduce_max, (0,), ((1,),), unit)
wide = builder.add(ops.broadcast, (largest,), (shape,), type_)
powers = builder.add(ops.exp, (builder.add(ops.subtract, (0, wide), (), type_),), (), type_)
total = builder.add(ops.reduce_sum, (powers,), ((1,),), unit)
wide = builder.add(ops.broadcast, (total,), (shape,), type_)
program = builder.finish([builder.add(ops.divide, (powers, wide), (), type_)])
for lowered in (eager.lower(program), driver.lower_graph(program)):
    print(program.key().hex(), *[launch.kernel.digest().hex() for launch in lowered.launches])
"""


def test_keys_are_equal_in_every_process(laws: Any) -> None:
    program = _softmax(laws, (40, 100))
    expected = "".join(
        " ".join([program.key().hex(), *[each.kernel.digest().hex() for each in lowered.launches]])
        + "\n"
        for lowered in (eager.lower(program), driver.lower_graph(program))
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == expected


@pytest.mark.parametrize("shape", [(1,), (17,), (5, 3), (70, 600), (3, 70_000), (600, 5)], ids=str)
def test_units_cover_the_work_whatever_the_threads(laws: Any, shape: tuple[int, ...]) -> None:
    """Schedules see sizes only, so that results are equal on every machine."""
    for axis in range(len(shape)):
        draft = laws.Draft((shape, F32))
        program = draft.program(draft.reduce_sum(0, axes=(axis,)))
        lowered = eager.lower(program)
        again = eager.lower(program)
        assert [each.arguments for each in lowered.launches] == [
            each.arguments for each in again.launches
        ]
        for launch in lowered.launches:
            assert 1 <= launch.grain <= launch.units <= prod(shape)
