"""Views cancel, merge and move without changing an element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from lamina.dialects import dtypes
from lamina.passes.simplify.views import broadcast_reshaped

F32 = dtypes.float32


def counted(*shape):
    """Distinct values of a shape."""
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def one_input(laws, shape, build, dtype=F32):
    draft = laws.Draft((shape, dtype))
    return laws.check(draft.program(build(draft, 0)), [counted(*shape).astype(dtype.numpy)])


MERGES = {
    "reshape to the same shape": ((2, 3), lambda d, x: d.reshape(x, shape=(2, 3)), []),
    "reshape of reshape": (
        (2, 6), lambda d, x: d.reshape(d.reshape(x, shape=(12,)), shape=(4, 3)), ["reshape"],
    ),
    "reshape and back": (
        (2, 6), lambda d, x: d.reshape(d.reshape(x, shape=(12,)), shape=(2, 6)), [],
    ),
    "transpose by nothing": ((2, 3), lambda d, x: d.transpose(x, permutation=(0, 1)), []),
    "transpose of transpose": (
        (2, 3, 4),
        lambda d, x: d.transpose(d.transpose(x, permutation=(1, 2, 0)), permutation=(1, 2, 0)),
        ["transpose"],
    ),
    "transpose and back": (
        (2, 3, 4),
        lambda d, x: d.transpose(d.transpose(x, permutation=(1, 2, 0)), permutation=(2, 0, 1)),
        [],
    ),
    "transpose of axes of size 1": (
        (1, 3, 1, 2), lambda d, x: d.transpose(x, permutation=(1, 0, 3, 2)), ["reshape"],
    ),
    "broadcast to the same shape": ((2, 3), lambda d, x: d.broadcast(x, shape=(2, 3)), []),
    "broadcast of broadcast": (
        (1, 1, 3),
        lambda d, x: d.broadcast(d.broadcast(x, shape=(1, 2, 3)), shape=(4, 2, 3)),
        ["broadcast"],
    ),
    "slice of everything": (
        (2, 3), lambda d, x: d.slice_(x, start=(0, 0), size=(2, 3), step=(1, 1)), [],
    ),
    "slice of one with a step": (
        (4, 1), lambda d, x: d.slice_(x, start=(0, 0), size=(4, 1), step=(1, 5)), [],
    ),
    "slice of slice": (
        (9, 9),
        lambda d, x: d.slice_(
            d.slice_(x, start=(1, 8), size=(4, 4), step=(2, -2)),
            start=(3, 1), size=(2, 3), step=(-1, 1),
        ),
        ["slice"],
    ),
    "reversed twice": (
        (5,),
        lambda d, x: d.slice_(
            d.slice_(x, start=(4,), size=(5,), step=(-1,)), start=(4,), size=(5,), step=(-1,)
        ),
        [],
    ),
    "reshape of broadcast": (
        (1, 3),
        lambda d, x: d.reshape(d.broadcast(x, shape=(4, 3)), shape=(2, 2, 3, 1)),
        ["reshape", "broadcast"],
    ),
    "reshape of broadcast that mixes": (
        (1, 3),
        lambda d, x: d.reshape(d.broadcast(x, shape=(4, 3)), shape=(12,)),
        ["broadcast", "reshape"],
    ),
    "transpose of broadcast": (
        (3, 1),
        lambda d, x: d.transpose(d.broadcast(x, shape=(3, 2)), permutation=(1, 0)),
        ["reshape", "broadcast"],
    ),
    "slice of broadcast": (
        (1, 5),
        lambda d, x: d.slice_(
            d.broadcast(x, shape=(6, 5)), start=(4, 1), size=(2, 2), step=(-2, 3)
        ),
        ["slice", "broadcast"],
    ),
    "slice of transpose": (
        (4, 6),
        lambda d, x: d.slice_(
            d.transpose(x, permutation=(1, 0)), start=(5, 0), size=(3, 2), step=(-1, 3)
        ),
        ["slice", "transpose"],
    ),
    "slice of reshape": (
        (4, 1, 6),
        lambda d, x: d.slice_(
            d.reshape(x, shape=(1, 4, 6, 1)),
            start=(0, 1, 5, 0), size=(1, 2, 3, 1), step=(1, 2, -1, 1),
        ),
        ["slice", "reshape"],
    ),
    "slice of a reshape that splits": (
        (12,),
        lambda d, x: d.slice_(
            d.reshape(x, shape=(3, 4)), start=(1, 1), size=(2, 2), step=(1, 1)
        ),
        ["reshape", "slice"],
    ),
    "slice of iota": (
        (1,),
        lambda d, x: d.transpose(d.iota(shape=(2, 3), dtype=F32, axis=1), permutation=(1, 0)),
        ["iota"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MERGES)
def test_views_merge(laws, name):
    shape, build, left = MERGES[name]
    assert laws.names(one_input(laws, shape, build)) == left


def parts(d, x, axis, *bounds):
    """Windows of ``x`` along an axis, from bound to bound."""
    shape = d.type_of(x).shape
    found = []
    for a, b in itertools.pairwise(bounds):
        start = tuple(a if i == axis else 0 for i in range(len(shape)))
        size = tuple(b - a if i == axis else n for i, n in enumerate(shape))
        found.append(d.slice_(x, start=start, size=size, step=(1,) * len(shape)))
    return found


UPDATES = {
    "split and put together": (
        (3, 8), lambda d, x: d.concatenate(*parts(d, x, 1, 0, 2, 5, 8), axis=1), [],
    ),
    "half of it": (
        (3, 8), lambda d, x: d.concatenate(*parts(d, x, 1, 2, 4, 7), axis=1), ["slice"],
    ),
    "the other way round": (
        (3, 8),
        lambda d, x: d.concatenate(*parts(d, x, 1, 0, 4, 8)[::-1], axis=1),
        ["slice", "slice", "concatenate"],
    ),
    "nested": (
        (3, 8),
        lambda d, x: d.concatenate(d.concatenate(x, d.exp(x), axis=0), d.sin(x), axis=0),
        ["exp", "sin", "concatenate"],
    ),
    "of one": ((3, 8), lambda d, x: d.concatenate(x, axis=0), []),
    "with nothing": (
        (3, 8), lambda d, x: d.concatenate(*parts(d, x, 1, 0, 0), x, axis=1), [],
    ),
    "a part again": (
        (3, 8),
        lambda d, x: d.slice_(
            d.concatenate(x, d.exp(x), axis=0), start=(5, 1), size=(2, 2), step=(-1, 1)
        ),
        ["exp", "slice"],
    ),
    "over the seam": (
        (3, 8),
        lambda d, x: d.slice_(
            d.concatenate(x, d.sqrt(x), axis=0), start=(4, 1), size=(3, 2), step=(-1, 1)
        ),
        ["sqrt", "concatenate", "slice"],
    ),
    "pad by nothing": (
        (3,), lambda d, x: d.pad(x, d.constant(value=0.0, dtype=F32), low=(0,), high=(0,)), [],
    ),
    "inside the padding": (
        (3,),
        lambda d, x: d.slice_(
            d.pad(x, d.constant(value=0.0, dtype=F32), low=(2,), high=(1,)),
            start=(4,), size=(2,), step=(-2,),
        ),
        ["slice"],
    ),
    "across the padding": (
        (3,),
        lambda d, x: d.slice_(
            d.pad(x, d.constant(value=0.0, dtype=F32), low=(2,), high=(1,)),
            start=(1,), size=(3,), step=(1,),
        ),
        ["pad", "slice"],
    ),
    "update of everything": (
        (3, 2), lambda d, x: d.slice_update(x, d.sqrt(x), start=(0, 0), step=(1, 1)), ["sqrt"],
    ),
    "update in reverse": (
        (3,), lambda d, x: d.slice_update(x, d.sqrt(x), start=(2,), step=(-1,)),
        ["sqrt", "slice_update"],
    ),
    "update read back": (
        (4,),
        lambda d, x: d.slice_(
            d.slice_update(x, d.sqrt(parts(d, x, 0, 0, 2)[0]), start=(3,), step=(-2,)),
            start=(3,), size=(2,), step=(-2,),
        ),
        ["slice", "sqrt"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UPDATES)
def test_updates(laws, name):
    shape, build, left = UPDATES[name]
    names = laws.names(one_input(laws, shape, build))
    # The slice of an elementwise op moves above it.
    assert sorted(names) == sorted(left)


def test_padding_keeps_the_sign_of_zero(laws):
    draft = laws.Draft()
    minus = draft.splat(-0.0, (2,), F32)
    plus = draft.constant(value=0.0, dtype=F32)
    same = draft.constant(value=-0.0, dtype=F32)
    program = draft.program(
        draft.pad(minus, plus, low=(1,), high=(1,)), draft.pad(minus, same, low=(1,), high=(1,))
    )
    assert laws.names(laws.check(program, [])) == ["pad"]


def test_arrays_without_elements_are_constants(laws):
    draft = laws.Draft(((0, 3), F32), ((2, 0), F32))
    product = draft.matmul(0, draft.transpose(0, permutation=(1, 0)))
    outputs = (
        draft.exp(draft.add(0, 0)),
        product,
        draft.matmul(1, 0),
        draft.reduce_sum(1, axes=(1,)),
    )
    program = draft.program(*outputs, draft.reduce_sum(0, axes=(1,)))
    inputs = [np.zeros((0, 3), np.float32), np.zeros((2, 0), np.float32)]
    assert laws.names(laws.check(program, inputs)) == []


def test_broadcast_reshaped_agrees_with_numpy():
    generator = np.random.default_rng(0)
    shapes = [(), (1,), (4,), (2, 3), (6, 1, 2), (2, 1, 3, 2), (12,), (3, 4), (1, 1), (2, 2, 3)]
    for shape in shapes:
        for target in shapes:
            if np.prod(shape) != np.prod(target):
                continue
            for _ in range(6):
                keep = generator.integers(0, 2, len(shape))
                operand = tuple(n if k else 1 for n, k in zip(shape, keep, strict=True))
                values = generator.random(operand)
                found = broadcast_reshaped(operand, shape, target)
                if found is not None:
                    expected = np.broadcast_to(values, shape).reshape(target)
                    actual = np.broadcast_to(values.reshape(found), target)
                    np.testing.assert_array_equal(actual, expected)
    assert broadcast_reshaped((1, 3), (4, 3), (2, 2, 3)) == (1, 1, 3)
    assert broadcast_reshaped((4, 1), (4, 3), (12,)) is None


# Motion


def test_views_move_over_elementwise_trees_and_cancel(laws):
    def build(d, x):
        turned = d.transpose(x, permutation=(1, 0))
        row = d.broadcast(d.slice_(turned, start=(0, 0), size=(1, 3), step=(1, 1)), shape=(4, 3))
        tree = d.add(d.sqrt(turned), d.multiply(row, d.like(0.5, row)))
        chosen = d.select(
            d.less(tree, turned), tree, d.cast(d.cast(tree, dtype=dtypes.float16), dtype=F32)
        )
        return d.transpose(chosen, permutation=(1, 0))

    simplified = one_input(laws, (3, 4), build)
    assert "transpose" not in laws.names(simplified)


def test_a_slice_moves_to_the_inputs(laws):
    def build(d, x):
        return d.slice_(d.sqrt(d.add(x, x)), start=(1, 0), size=(1, 2), step=(1, 2))

    assert laws.names(one_input(laws, (3, 4), build)) == ["slice", "add", "sqrt"]


def test_a_view_of_shared_work_stays(laws):
    draft = laws.Draft(((3, 4), F32))
    shared = draft.sqrt(0)
    program = draft.program(draft.transpose(shared, permutation=(1, 0)), draft.negative(shared))
    simplified = laws.check(program, [counted(3, 4)])
    assert laws.names(simplified) == ["sqrt", "transpose", "negative"]


def test_a_broadcast_does_not_move_over_work(laws):
    def build(d, x):
        return d.broadcast(d.sqrt(x), shape=(5, 4))

    assert laws.names(one_input(laws, (1, 4), build)) == ["sqrt", "broadcast"]


def test_a_transpose_for_a_matmul_stays_below_the_work(laws):
    draft = laws.Draft(((3, 4), F32), ((3, 4), F32))
    program = draft.program(draft.matmul(0, draft.transpose(draft.sqrt(1), permutation=(1, 0))))
    simplified = laws.check(program, [counted(3, 4), counted(3, 4)])
    assert laws.names(simplified) == ["sqrt", "transpose", "matmul"]


def test_dropped_axes_of_a_mean_come_back_for_free(laws):
    def build(d, x):
        total = d.reshape(d.reduce_sum(x, axes=(1,)), shape=(3,))
        mean = d.divide(total, d.like(2.0, total))
        row = d.broadcast(d.reshape(mean, shape=(3, 1)), shape=(3, 4))
        return d.subtract(x, row)

    simplified = one_input(laws, (3, 4), build)
    assert laws.names(simplified) == ["reduce_sum", "multiply", "broadcast", "subtract"]


def test_a_result_that_is_returned_is_reshaped_last(laws):
    def build(d, x):
        total = d.reshape(d.reduce_sum(x, axes=(1,)), shape=(3,))
        return d.sqrt(d.divide(total, d.like(2.0, total)))

    simplified = one_input(laws, (3, 4), build)
    assert laws.names(simplified) == ["reduce_sum", "multiply", "sqrt", "reshape"]


def test_a_reshape_does_not_cut_a_norm_in_two(laws):
    """Moved over the norm, the reshape would end between the row's sum and the row."""

    def build(d, x):
        row = d.broadcast(d.reduce_max(x, axes=(2,)), shape=(2, 3, 4))
        return d.reshape(d.sqrt(d.subtract(x, row)), shape=(6, 4))

    simplified = one_input(laws, (2, 3, 4), build)
    assert laws.names(simplified) == ["reduce_max", "broadcast", "subtract", "sqrt", "reshape"]


def test_a_reshape_of_a_transposed_operand_stays(laws):
    """No strides describe it above the work; below, it costs nothing."""
    draft = laws.Draft(((3, 4), F32), ((4, 3), F32))
    tree = draft.add(draft.transpose(0, permutation=(1, 0)), 1)
    program = draft.program(draft.reshape(tree, shape=(12,)))
    simplified = laws.check(program, [counted(3, 4), counted(4, 3)])
    assert laws.names(simplified) == ["transpose", "add", "reshape"]


def test_an_op_with_one_operand_twice_is_one_user(laws):
    def build(d, x):
        root = d.sqrt(x)
        return d.transpose(d.multiply(root, root), permutation=(1, 0))

    assert laws.names(one_input(laws, (3, 4), build)) == ["transpose", "sqrt", "multiply"]
