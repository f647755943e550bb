"""Whole calls: threads change no bits, inputs never change, outputs are never shared."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from lamina.dialects import dtypes, reference
from lamina.dialects.primitive import TABLE, TensorType
from lamina.errors import LaminaError
from lamina.passes import driver, eager
from lamina.runtime import cpu

F32 = dtypes.float32
PATHS = ["graph", "operation"]

SCRIPT = """
import hashlib
import numpy as np
from lamina.dialects import dtypes, ops
from lamina.dialects.primitive import TensorType
from lamina.dialects.program import ProgramBuilder
from lamina.passes import driver
from lamina.runtime.buffer import allocate

shape = (700, 3001)
type_ = TensorType(shape, dtypes.float32)
builder = ProgramBuilder((type_,))
outputs = []
for axes in ((0,), (1,), (0, 1)):
    kept = tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    outputs.append(builder.add(ops.reduce_sum, (0,), (axes,), TensorType(kept, dtypes.float32)))
turned = TensorType(shape[::-1], dtypes.float32)
other = builder.add(ops.transpose, (0,), ((1, 0),), turned)
square = TensorType((700, 700), dtypes.float32)
outputs.append(builder.add(ops.matmul, (0, other), (), square))
outputs.append(builder.add(ops.exp, (other,), (), turned))
outputs.append(builder.add(ops.cumsum, (0,), (1, False, True), type_))
program = builder.finish(outputs)
values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
buffer = allocate(values.nbytes)
buffer.as_numpy(values.dtype, shape, writable=True)[...] = values
executable = driver.executable_for(program)
for _ in range(3):
    for output, value in zip(executable.run([buffer]), program.outputs):
        array = output.as_numpy(np.float32, program.type_of(value).shape)
        print(hashlib.sha256(array.tobytes()).hexdigest())
"""


def test_the_number_of_threads_changes_no_bits() -> None:
    printed = set()
    for threads in ("1", "2", "3"):
        environment = {**os.environ, "LAMINA_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = done.stdout.split()
        assert lines[:6] == lines[6:12] == lines[12:]
        printed.add(tuple(lines))
    assert len(printed) == 1


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("step", [1, 2, -1])
def test_an_update_leaves_the_input_as_it_was(laws: Any, native: Any, path: str, step: int) -> None:
    draft = laws.Draft(((10, 40), F32), ((3, 20), F32))
    updated = draft.slice_update(0, 1, start=(4, 20), step=(step, -1))
    twice = draft.slice_update(updated, 1, start=(7, 30), step=(1, -1))
    program = draft.program(updated, twice, 0)
    inputs = [np.arange(400.0).reshape(10, 40), -np.arange(60.0).reshape(3, 20)]
    for actual, expected in native.both(program, [x.astype(np.float32) for x in inputs], path):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("path", PATHS)
def test_an_update_by_a_part_of_itself(laws: Any, native: Any, path: str) -> None:
    """The pieces overlap, so the order of reads and writes would show."""
    draft = laws.Draft(((1000,), F32))
    value = draft.negative(0)
    part = draft.slice_(value, start=(0,), size=(990,), step=(1,))
    moved = draft.slice_update(value, part, start=(10,), step=(1,))
    back = draft.slice_(moved, start=(999,), size=(990,), step=(-1,))
    turned = draft.slice_update(moved, back, start=(0,), step=(1,))
    values = np.random.default_rng(0).random(1000, np.float32)
    for actual, expected in native.both(draft.program(moved, turned), [values], path):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("path", PATHS)
def test_outputs_of_two_calls_never_share_memory(laws: Any, native: Any, path: str) -> None:
    draft = laws.Draft(((500,), F32))
    value = draft.exp(0)
    outputs = [value, draft.reshape(value, shape=(50, 10)), draft.splat(7.5, (500,), F32)]
    executable = native.executable(draft.program(*outputs), path)
    buffer = native.buffer_of(np.zeros(500, np.float32))
    first, second = executable.run([buffer]), executable.run([buffer])
    assert {b.address for b in first}.isdisjoint(b.address for b in second)
    assert buffer.address not in {b.address for b in first + second}
    first[0].as_numpy(np.float32, (500,), writable=True)[...] = 3
    np.testing.assert_array_equal(second[0].as_numpy(np.float32, (500,)), 1)
    np.testing.assert_array_equal(second[2].as_numpy(np.float32, (500,)), 7.5)


def _variants(primitive: Any, dtype: Any) -> list[tuple[tuple[TensorType, ...], Any]]:
    """Operand types and attributes that a primitive takes, if there are any for a dtype."""
    shape = (6, 35)
    type_ = TensorType(shape, dtype)
    attributes = {
        "constant": [(True if dtype.kind == "bool" else 1, dtype)],
        "iota": [(shape, dtype, 1)],
        "empty": [],
        "cast": [(other,) for other in dtypes.ALL],
        "bitcast": [(other,) for other in dtypes.ALL],
        "reshape": [((35, 6),)],
        "transpose": [((1, 0),)],
        "broadcast": [((6, 35),)],
        "slice": [((5, 3), (3, 30), (-2, 1))],
        "slice_update": [((0, 0), (1, 1))],
        "pad": [((1, 0), (0, 2))],
        "concatenate": [(0,)],
        "argmax": [(0,), (1,)],
        "argmin": [(0,), (1,)],
    }.get(primitive.name)
    if attributes is None:
        kinds = {
            "reduction": [((0,),), ((1,),)],
            "scan": [(0, False, False), (1, True, True)],
        }
        attributes = kinds.get(primitive.kind, [()])
    operands = {
        "select": (TensorType(shape, dtypes.bool_), type_, type_),
        "pad": (type_, TensorType((), dtype)),
        "broadcast": (TensorType((6, 1), dtype),),
        "concatenate": (type_, type_),
        "matmul": (type_, TensorType((35, 6), dtype)),
    }.get(primitive.name, (type_,) * len(primitive.operands))
    if dtype.kind == "complex" and primitive.name == "constant":
        attributes = [(1 + 0j, dtype)]
    found = []
    for entry in attributes:
        try:
            primitive.rule(operands, entry)
        except LaminaError:
            continue
        found.append((operands, entry))
    return found


def test_what_is_not_elementwise_runs_in_every_dtype(laws: Any, native: Any, dtype: Any) -> None:
    """What the code generator cannot select, and symbols that nobody defines, would show."""
    table = [primitive for primitive in TABLE.values() if primitive.kind != "elementwise"]
    values: list[np.ndarray] = []
    outputs: list[int] = []
    inputs: list[tuple[tuple[int, ...], Any]] = []
    for primitive in table:
        for operands, _ in _variants(primitive, dtype):
            for type_ in operands:
                if tuple(type_) not in inputs:
                    inputs.append(tuple(type_))
    draft = laws.Draft(*inputs)
    for primitive in table:
        for operands, attributes in _variants(primitive, dtype):
            result = TensorType(*primitive.rule(operands, attributes))
            numbers = tuple(inputs.index(tuple(type_)) for type_ in operands)
            outputs.append(draft.builder.add(primitive, numbers, attributes, result))
    random = np.random.default_rng(0)
    for shape, of in inputs:
        values.append(random.integers(0, 2, shape).astype(of.numpy))
    program = draft.program(*outputs)
    for path in PATHS if dtype.size == 4 else PATHS[:1]:
        for actual, expected in native.both(program, values, path):
            assert actual.dtype == expected.dtype
            if actual.dtype.kind in "biu":
                np.testing.assert_array_equal(actual, expected)
            else:
                a, b = actual.astype(np.complex128), expected.astype(np.complex128)
                np.testing.assert_allclose(a, b, 2e-2, 2e-2)


@pytest.mark.slow
def test_every_kernel_alone_has_no_undefined_symbols(dtype: Any) -> None:
    from lamina.dialects.program import ProgramBuilder

    for primitive in TABLE.values():
        for operands, attributes in _variants(primitive, dtype):
            builder = ProgramBuilder(operands)
            result = TensorType(*primitive.rule(operands, attributes))
            value = builder.add(primitive, tuple(range(len(operands))), attributes, result)
            for launch in eager.lower(builder.finish([value])).launches:
                # The linker refuses code with symbols of its own.
                image = cpu.compile_llvm_ir(driver.llvm_ir(launch.kernel), driver.ENTRY)
                assert image.pack()


def test_empty_arrays_launch_nothing(laws: Any, native: Any) -> None:
    draft = laws.Draft(((0, 5), F32), ((3, 0), F32))
    outputs = [
        draft.exp(0), draft.reduce_sum(0, axes=(1,)), draft.matmul(1, 0),
        draft.transpose(0, permutation=(1, 0)), draft.reduce_sum(0, axes=(0,)),
        draft.concatenate(0, 0, axis=0), draft.cumsum(1, axis=0, reverse=True, inclusive=False),
    ]  # fmt: skip
    inputs = [np.empty((0, 5), np.float32), np.empty((3, 0), np.float32)]
    for path in PATHS:
        program = draft.program(*outputs)
        for actual, expected in zip(
            native.run(program, inputs, path), reference.run(program, inputs), strict=True
        ):
            np.testing.assert_array_equal(actual, expected)
