"""Random programs compute the same bits after canonicalize, cse and dce."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lamina.dialects import dtypes

DTYPES = (dtypes.float32, dtypes.int32, dtypes.uint8, dtypes.bool_, dtypes.bfloat16)
SHAPES = ((), (1,), (2, 3), (3, 1), (1, 2, 3), (6,), (0, 2))
UNARY = ("negative", "abs_", "sign", "floor", "rint", "sqrt", "bitwise_invert")
BINARY = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum",
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "equal", "not_equal",
    "less", "less_equal", "greater", "greater_equal",
)  # fmt: skip
TAKES = {
    "floating": {
        *UNARY[:6], *BINARY[:4], *BINARY[6:8], *BINARY[13:],
    },
    "signed": {*UNARY[:3], UNARY[6], *BINARY[:3], *BINARY[4:]},
    "unsigned": {*UNARY[:3], UNARY[6], *BINARY[:3], *BINARY[4:]},
    "bool": {"bitwise_invert", *BINARY[6:11], *BINARY[13:]},
}  # fmt: skip
CONSTANTS = {
    "floating": (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, float("inf"), 3.25),
    "signed": (0, 1, -1, 2, 7),
    "unsigned": (0, 1, 2, 7),
    "bool": (False, True),
}
EXACT_REDUCTIONS = {
    "floating": ("reduce_max", "reduce_min"),
    "signed": ("reduce_sum", "reduce_prod", "reduce_max"),
    "unsigned": ("reduce_sum", "reduce_min"),
    "bool": ("reduce_and", "reduce_or", "reduce_max"),
}


def _view(rng, draft, value):
    """A random view of a value, or an update or reduction of it."""
    shape = draft.type_of(value).shape
    choice = rng.randrange(7)
    if choice <= 1:
        extents = [n for n in shape if n != 1 or rng.random() < 0.5]
        if rng.random() < 0.5 and 0 not in shape:
            extents = [int(np.prod(shape))]
        extents.insert(rng.randint(0, len(extents)), 1)
        return draft.reshape(value, shape=tuple(extents))
    if choice == 2:
        axes = list(range(len(shape)))
        rng.shuffle(axes)
        return draft.transpose(value, permutation=tuple(axes))
    if choice == 3:
        wide = tuple(rng.randint(1, 3) if n == 1 else n for n in shape)
        return draft.broadcast(value, shape=wide)
    if choice == 4:
        return _slice(rng, draft, value)
    if choice == 5 and shape:
        return draft.concatenate(value, value, axis=rng.randrange(len(shape)))
    if choice == 6 and shape:
        kind = draft.type_of(value).dtype.kind
        axes = tuple(axis for axis in range(len(shape)) if rng.random() < 0.5)
        if all(shape[axis] for axis in axes):
            return getattr(draft, rng.choice(EXACT_REDUCTIONS[kind]))(value, axes=axes)
    return value


def _slice(rng, draft, value):
    window = []
    for extent in draft.type_of(value).shape:
        count = rng.randint(min(extent, 1), extent)
        step = rng.choice([-1, 1, 2])
        if (count - 1) * abs(step) >= extent:
            count, step = min(extent, 1), 1
        window.append((max(extent - 1, 0) if step < 0 else 0, count, step))
    start, size, step = zip(*window, strict=True) if window else ((), (), ())
    return draft.slice_(value, start=start, size=size, step=step)


def _step(rng, draft, values):
    """One more value, made of those there are."""
    value = rng.choice(values)
    shape, dtype = draft.type_of(value)
    choice = rng.randrange(10)
    if choice <= 3:
        return _view(rng, draft, value)
    if choice == 4:
        return draft.cast(value, dtype=rng.choice(DTYPES))
    if choice == 5:
        names = [name for name in UNARY if name in TAKES[dtype.kind]]
        return getattr(draft, rng.choice(names))(value)
    alike = [v for v in values if draft.type_of(v) == (shape, dtype)][-4:]
    if rng.random() < 0.5:
        alike.append(draft.splat(rng.choice(CONSTANTS[dtype.kind]), shape, dtype))
    lhs, rhs = rng.choice(alike), rng.choice(alike)
    if choice == 6:
        truths = [v for v in values if draft.type_of(v) == (shape, dtypes.bool_)]
        truths.append(draft.splat(rng.random() < 0.5, shape, dtypes.bool_))
        return draft.select(rng.choice(truths), lhs, rhs)
    names = [name for name in BINARY if name in TAKES[dtype.kind]]
    return getattr(draft, rng.choice(names))(lhs, rhs)


def random_program(laws, rng):
    """A program of a few ops, and inputs of nasty values."""
    types = [(rng.choice(SHAPES), rng.choice(DTYPES)) for _ in range(rng.randint(1, 3))]
    draft = laws.Draft(*types)
    values = list(range(len(types)))
    for _ in range(rng.randint(1, 14)):
        values.append(_step(rng, draft, values))
    inputs = []
    for shape, dtype in types:
        some = rng.choices(list(laws.nasty(dtype)), k=int(np.prod(shape)))
        inputs.append(np.array(some, dtype.numpy).reshape(shape))
    return draft.program(*values[-rng.randint(1, 3) :]), inputs


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(rng=st.randoms(use_true_random=False))
def test_random_programs_keep_their_bits(laws, rng):
    program, inputs = random_program(laws, rng)
    laws.check(program, inputs, "canonicalize,cse,dce")


def test_once_is_enough(laws):
    """Running the pass again finds no more work to drop (views may find a better place)."""
    for seed in range(100):
        program, _ = random_program(laws, random.Random(seed))
        once = laws.apply(program)
        work, left = laws.names(once), laws.names(laws.apply(once))
        assert sorted(set(left) - VIEWS) == sorted(set(work) - VIEWS)


VIEWS = {"reshape", "transpose", "broadcast", "slice"}
