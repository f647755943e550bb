"""Norms, softmax and losses of all lengths, in whole kernels and in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.dialects import dtypes, ops, reference
from lamina.dialects.primitive import Primitive, TensorType
from lamina.dialects.program import Program, ProgramBuilder
from lamina.passes import driver
from lamina.passes.fusion.partition import ROW_LIMIT
from lamina.passes.schedule.loops import COLUMN_SPLIT, ROW_CHUNK, ROW_SPLIT
from lamina.runtime.buffer import allocate

SHAPES = [
    (1, 1), (3, 1), (1, 33), (5, 63), (40, 129), (2, ROW_CHUNK), (2, ROW_CHUNK + 1),
    (17, ROW_CHUNK + 1), (1, ROW_SPLIT + 1), (17, ROW_LIMIT + 3), (COLUMN_SPLIT + 1, 3),
    (COLUMN_SPLIT + 1, 515), (3, 0), (0, 3),
]  # fmt: skip


class Writer:
    """Records the ops of one program over a matrix."""

    def __init__(self, shape: tuple[int, int], dtype: dtypes.DType, axis: int) -> None:
        self.builder = ProgramBuilder((TensorType(shape, dtype),))
        self.types = [TensorType(shape, dtype)]
        self.shape, self.axis = shape, axis

    def __call__(self, primitive: Primitive, *operands: int, attributes: Any = ()) -> int:
        """The value of an op."""
        type_ = TensorType(*primitive.rule(tuple(self.types[o] for o in operands), attributes))
        number = self.builder.add(primitive, operands, attributes, type_)
        if number == len(self.types):
            self.types.append(type_)
        return number

    def across(self, primitive: Primitive, value: int) -> int:
        """A reduction along the axis, spread over it again."""
        reduced = self(primitive, value, attributes=((self.axis,),))
        return self(ops.broadcast, reduced, attributes=(self.shape,))


def _softmax(write: Writer) -> list[int]:
    if 0 in write.shape:
        return [write(ops.exp, 0)]
    powers = write(ops.exp, write(ops.subtract, 0, write.across(ops.reduce_max, 0)))
    return [write(ops.divide, powers, write.across(ops.reduce_sum, powers))]


def _norm(write: Writer) -> list[int]:
    centred = write(ops.subtract, 0, write.across(ops.reduce_sum, 0))
    square = write.across(ops.reduce_sum, write(ops.multiply, centred, centred))
    return [write(ops.divide, centred, write(ops.sqrt, square)), write(ops.negative, square)]


def _moments(write: Writer) -> list[int]:
    axes = ((write.axis,),)
    powers = write(ops.multiply, 0, 0)
    return [write(ops.reduce_sum, value, attributes=axes) for value in (0, powers)]


def _run(program: Program, values: np.ndarray, build: Any) -> list[np.ndarray]:
    buffer = allocate(values.nbytes)
    if values.size:
        buffer.as_numpy(values.dtype, values.shape, writable=True)[...] = values
    results = build(program).run([buffer])
    return [
        result.as_numpy(program.type_of(value).dtype.numpy, program.type_of(value).shape)
        for result, value in zip(results, program.outputs, strict=True)
    ]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("rows", [_softmax, _norm, _moments], ids=lambda f: f.__name__[1:])
def test_rows(shape: tuple[int, int], rows: Any) -> None:
    for dtype in (dtypes.float32, dtypes.bfloat16):
        if dtype is dtypes.bfloat16 and rows is _norm:
            continue  # its sums of thousands do not fit eight bits
        random = np.random.default_rng(1)
        values = random.normal(0.1, 1, shape).astype(dtype.numpy)
        for axis in range(2):
            write = Writer(shape, dtype, axis)
            program = write.builder.finish(rows(write))
            expected = reference.run(program, [values])
            for build in (driver.executable_for, driver.operation_for):
                for actual, wanted in zip(_run(program, values, build), expected, strict=True):
                    a, b = actual.astype(np.float64), np.asarray(wanted).astype(np.float64)
                    eps = 3e-2 if dtype.size == 2 else 2e-4
                    np.testing.assert_allclose(a, b, eps, eps * max(np.abs(b).max(initial=0), 1))
