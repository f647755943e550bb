"""Simplification is linear in the ops and does not recurse, whatever their shape."""

from __future__ import annotations

import time

import pytest

from lamina.dialects import dtypes, ops
from lamina.dialects.primitive import TensorType
from lamina.dialects.program import Instruction, Program

F32 = dtypes.float32
SQUARE = TensorType((64, 64), F32)


class Chain:
    """A program in which each op uses the one before."""

    def __init__(self, type_=SQUARE):
        self.inputs = (type_,)
        self.instructions = []
        self.last = type_

    def __call__(self, primitive, attributes=(), *more):
        operands = (len(self.instructions), *more)
        types = tuple(self.last if i == operands[0] else self.inputs[0] for i in operands)
        self.last = primitive.rule(types, attributes)
        self.instructions.append(Instruction(primitive, operands, attributes, self.last))

    def program(self):
        return Program(self.inputs, self.instructions, (len(self.instructions),))


def distinct(count):
    chain = Chain()
    for i in range(count):
        chain((ops.sin, ops.add, ops.multiply)[i % 3], (), *([0] if i % 3 else []))
    return chain.program()


def negatives(count):
    chain = Chain()
    for _ in range(count):
        chain(ops.negative)
    return chain.program()


def reshapes_between_work(count):
    chain = Chain()
    for i in range(count // 2):
        chain(ops.exp)
        chain(ops.reshape, (((4096,), (64, 64))[i % 2],))
    return chain.program()


def views_that_do_not_merge(count):
    chain = Chain()
    for i in range(count // 4):
        chain(ops.exp)
        chain(ops.reshape, (((16, 256), (64, 64))[i % 2],))
        chain(ops.exp)
        chain(ops.transpose, ((1, 0),))
    return chain.program()


def work_below_a_reduction(count):
    chain = Chain()
    chain(ops.reduce_sum, ((1,),))
    chain(ops.reshape, ((64,),))
    for _ in range(count - 2):
        chain(ops.exp)
    return chain.program()


def growing_concatenations(count):
    chain = Chain(TensorType((1,), F32))
    for _ in range(count):
        chain(ops.concatenate, (0,), 0)
    return chain.program()


def casts(count):
    chain = Chain()
    for i in range(count):
        chain(ops.cast, ((dtypes.float64, F32)[i % 2],))
    return chain.program()


SHAPES = {
    distinct: 1.0,
    negatives: 0.0,
    reshapes_between_work: 0.5,
    views_that_do_not_merge: 1.0,
    work_below_a_reduction: 1.0,
    growing_concatenations: 0.0,
    casts: 0.0,
}
"""Programs of a size, and the share of their ops that is left."""


@pytest.mark.parametrize("make", SHAPES, ids=lambda make: make.__name__)
def test_five_thousand_ops(laws, make):
    program = make(5000)
    start = time.process_time()
    simplified = laws.apply(program, "canonicalize,cse,dce")
    seconds = time.process_time() - start
    assert len(simplified.instructions) == pytest.approx(5000 * SHAPES[make], abs=10)
    # Measured: 0.3 s; quadratic work would take minutes.
    assert seconds < 10


@pytest.mark.slow
@pytest.mark.parametrize("make", SHAPES, ids=lambda make: make.__name__)
def test_two_hundred_thousand_ops(laws, make):
    start = time.process_time()
    laws.apply(make(200_000), "canonicalize,cse,dce")
    assert time.process_time() - start < 60
