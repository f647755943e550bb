"""Views that cancel, merge, or pass through each other.

The order they settle in, from the value outwards: slice, transpose or reshape, broadcast. Views of
arrays without elements are left alone; :func:`no_elements` makes constants of those arrays.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ...dialects import ops
from ...dialects.primitive import TABLE, Attributes, Shape
from ...dialects.program import encode
from .rewriter import Rewriter, pattern, shape_of, splat_of

if TYPE_CHECKING:
    from .dataflow import Op


MAXIMUM_PARTS = 256
"""The most parts of a concatenation that a slice is looked for in."""


def without_ones(shape: Shape) -> Shape:
    """The extents that are not 1."""
    return tuple(extent for extent in shape if extent != 1)


def only_moves_ones(old: Shape, new: Shape) -> bool:
    """True if a reshape only adds and drops axes of size 1."""
    return without_ones(old) == without_ones(new)


# Identities


@pattern(*[op for op in TABLE.values() if op.kind not in ("creation", "view")])
def no_elements(op: Op, rewriter: Rewriter) -> Op | None:
    """An array without elements needs no work: it is a constant of its shape."""
    if op.type.size or op.type.dtype.kind == "complex":
        return None
    zero = {"bool": False, "floating": 0.0}.get(op.type.dtype.kind, 0)
    return rewriter.splat(zero, op.type)


@pattern(ops.reshape, ops.broadcast)
def same_shape(op: Op, rewriter: Rewriter) -> Op | None:
    """A reshape or broadcast to the shape that the operand has is the operand."""
    (operand,) = op.operands
    return operand if shape_of(operand) == shape_of(op) else None


@pattern(ops.transpose)
def trivial_transpose(op: Op, rewriter: Rewriter) -> Op | None:
    """Axes that stay in order give the operand; moving axes of size 1 only is a reshape."""
    (operand,), (permutation,) = op.operands, op.attributes
    if permutation == tuple(range(len(permutation))):
        return operand
    moved = [axis for axis in permutation if shape_of(operand)[axis] != 1]
    if moved == sorted(moved):
        return rewriter.create(ops.reshape, [operand], (shape_of(op),))
    return None


@pattern(ops.slice_)
def trivial_slice(op: Op, rewriter: Rewriter) -> Op | None:
    """A slice of everything is the operand; where it takes one element the step is 1."""
    (operand,), (start, size, step) = op.operands, op.attributes
    shape = shape_of(operand)
    if size == shape and all(s == 1 or n <= 1 for s, n in zip(step, size, strict=True)):
        return operand
    canonical = tuple(s if n > 1 else 1 for s, n in zip(step, size, strict=True))
    if canonical != step:
        return rewriter.create(ops.slice_, [operand], (start, size, canonical))
    return None


# Two of one kind


@pattern(ops.reshape)
def reshape_of_reshape(op: Op, rewriter: Rewriter) -> Op | None:
    """Only the last shape counts."""
    (inner,) = op.operands
    if inner.primitive is ops.reshape:
        return rewriter.create(ops.reshape, inner.operands, op.attributes)
    return None


@pattern(ops.transpose)
def transpose_of_transpose(op: Op, rewriter: Rewriter) -> Op | None:
    """Two permutations are one."""
    (inner,), (permutation,) = op.operands, op.attributes
    if inner.primitive is not ops.transpose:
        return None
    (first,) = inner.attributes
    both = tuple(first[axis] for axis in permutation)
    return rewriter.create(ops.transpose, inner.operands, (both,))


@pattern(ops.broadcast)
def broadcast_of_broadcast(op: Op, rewriter: Rewriter) -> Op | None:
    """Only the last shape counts."""
    (inner,) = op.operands
    if inner.primitive is ops.broadcast:
        return rewriter.create(ops.broadcast, inner.operands, op.attributes)
    return None


@pattern(ops.slice_)
def slice_of_slice(op: Op, rewriter: Rewriter) -> Op | None:
    """Two windows are one."""
    (inner,), (start, size, step) = op.operands, op.attributes
    if inner.primitive is not ops.slice_ or prod(size) == 0:
        return None
    first, _, stride = inner.attributes
    both = tuple(a + b * s for a, b, s in zip(first, start, stride, strict=True))
    steps = tuple(a * b for a, b in zip(stride, step, strict=True))
    return rewriter.create(ops.slice_, inner.operands, (both, size, steps))


# Through each other


def broadcast_reshaped(operand: Shape, shape: Shape, target: Shape) -> Shape | None:
    """The shape in which a broadcast's operand gives, broadcast, the reshaped broadcast.

    ``operand`` is broadcast to ``shape``, which is reshaped to ``target``. None if axes that repeat
    would merge with axes that do not.
    """
    if prod(shape) == 0:
        return None
    result = [1] * len(target)
    old = [axis for axis, extent in enumerate(shape) if extent != 1]
    new = [axis for axis, extent in enumerate(target) if extent != 1]
    i = j = 0
    while i < len(old):
        # The shortest runs of axes with as many elements on both sides.
        old_end, new_end = i + 1, j + 1
        old_size, new_size = shape[old[i]], target[new[j]]
        while old_size != new_size:
            if old_size < new_size:
                old_size *= shape[old[old_end]]
                old_end += 1
            else:
                new_size *= target[new[new_end]]
                new_end += 1
        kept = [operand[axis] == shape[axis] for axis in old[i:old_end]]
        if all(kept):
            for axis in new[j:new_end]:
                result[axis] = target[axis]
        elif any(kept):
            return None
        i, j = old_end, new_end
    return tuple(result)


@pattern(ops.reshape)
def reshape_of_broadcast(op: Op, rewriter: Rewriter) -> Op | None:
    """The operand is reshaped and then repeated, where the axes allow it."""
    (inner,), (target,) = op.operands, op.attributes
    if inner.primitive is not ops.broadcast:
        return None
    (source,) = inner.operands
    shape = broadcast_reshaped(shape_of(source), shape_of(inner), target)
    if shape is None:
        return None
    reshaped = rewriter.create(ops.reshape, [source], (shape,))
    return rewriter.create(ops.broadcast, [reshaped], (target,), like=inner)


@pattern(ops.transpose)
def transpose_of_broadcast(op: Op, rewriter: Rewriter) -> Op | None:
    """The operand's axes are moved before it is repeated."""
    (inner,) = op.operands
    if inner.primitive is not ops.broadcast:
        return None
    moved = rewriter.create(ops.transpose, inner.operands, op.attributes)
    return rewriter.create(ops.broadcast, [moved], (shape_of(op),), like=inner)


@pattern(ops.slice_)
def slice_of_broadcast(op: Op, rewriter: Rewriter) -> Op | None:
    """The window is taken of the operand, and repeated as often as it is needed."""
    (inner,) = op.operands
    if inner.primitive is not ops.broadcast or prod(shape_of(op)) == 0:
        return None
    (source,) = inner.operands
    repeats = [a != b for a, b in zip(shape_of(source), shape_of(inner), strict=True)]
    window = _without_axes(op.attributes, repeats)
    taken = rewriter.create(ops.slice_, [source], window)
    return rewriter.create(ops.broadcast, [taken], (shape_of(op),), like=inner)


def _without_axes(window: Attributes, axes: list[bool]) -> Attributes:
    """A window that takes the one element there is along the given axes."""
    start, size, step = window
    return (
        tuple(0 if skip else n for n, skip in zip(start, axes, strict=True)),
        tuple(1 if skip else n for n, skip in zip(size, axes, strict=True)),
        tuple(1 if skip else n for n, skip in zip(step, axes, strict=True)),
    )


@pattern(ops.slice_)
def slice_of_transpose(op: Op, rewriter: Rewriter) -> Op | None:
    """The window is taken before the axes move."""
    (inner,) = op.operands
    if inner.primitive is not ops.transpose:
        return None
    (permutation,) = inner.attributes
    places = [permutation.index(axis) for axis in range(len(permutation))]
    window = tuple(tuple(part[place] for place in places) for part in op.attributes)
    taken = rewriter.create(ops.slice_, inner.operands, window)
    return rewriter.create(ops.transpose, [taken], inner.attributes, like=inner)


@pattern(ops.slice_)
def slice_of_reshape(op: Op, rewriter: Rewriter) -> Op | None:
    """The window is taken before axes of size 1 are added or dropped."""
    (inner,), (start, size, step) = op.operands, op.attributes
    if inner.primitive is not ops.reshape or prod(size) == 0:
        return None
    (source,) = inner.operands
    if not only_moves_ones(shape_of(source), shape_of(inner)):
        return None
    entries = iter(
        [
            entry
            for entry, extent in zip(zip(start, size, step), shape_of(inner), strict=True)
            if extent != 1
        ]
    )
    window = [next(entries) if extent != 1 else (0, 1, 1) for extent in shape_of(source)]
    first, count, stride = zip(*window, strict=True) if window else ((), (), ())
    taken = rewriter.create(ops.slice_, [source], (first, count, stride))
    return rewriter.create(ops.reshape, [taken], (size,), like=inner)


@pattern(ops.transpose)
def transpose_of_iota(op: Op, rewriter: Rewriter) -> Op | None:
    """Positions along an axis that moves are positions along the axis it becomes."""
    (inner,), (permutation,) = op.operands, op.attributes
    if inner.primitive is not ops.iota:
        return None
    _, dtype, axis = inner.attributes
    return rewriter.create(ops.iota, (), (shape_of(op), dtype, permutation.index(axis)))


# Updates


@pattern(ops.slice_)
def slice_of_concatenate(op: Op, rewriter: Rewriter) -> Op | None:
    """A window inside one of the parts is a window of that part."""
    (inner,), (start, size, step) = op.operands, op.attributes
    if inner.primitive is not ops.concatenate or prod(size) == 0:
        return None
    if len(inner.operands) > MAXIMUM_PARTS:
        return None
    (axis,) = inner.attributes
    ends = (start[axis], start[axis] + (size[axis] - 1) * step[axis])
    offset = 0
    for part in inner.operands:
        extent = shape_of(part)[axis]
        if offset <= min(ends) and max(ends) < offset + extent:
            first = (*start[:axis], start[axis] - offset, *start[axis + 1 :])
            return rewriter.create(ops.slice_, [part], (first, size, step))
        offset += extent
    return None


@pattern(ops.slice_)
def slice_of_pad(op: Op, rewriter: Rewriter) -> Op | None:
    """A window inside the padding is a window of the padded operand."""
    (inner,), (start, size, step) = op.operands, op.attributes
    if inner.primitive is not ops.pad or prod(size) == 0:
        return None
    operand, _ = inner.operands
    low, _ = inner.attributes
    first = tuple(a - b for a, b in zip(start, low, strict=True))
    last = tuple(a + (n - 1) * s for a, n, s in zip(first, size, step, strict=True))
    for a, b, extent in zip(first, last, shape_of(operand), strict=True):
        if not (0 <= a < extent and 0 <= b < extent):
            return None
    return rewriter.create(ops.slice_, [operand], (first, size, step))


@pattern(ops.slice_)
def slice_of_update(op: Op, rewriter: Rewriter) -> Op | None:
    """The window that was just written holds the update."""
    (inner,), (start, size, step) = op.operands, op.attributes
    if inner.primitive is not ops.slice_update:
        return None
    _, update = inner.operands
    return update if inner.attributes == (start, step) and shape_of(update) == size else None


@pattern(ops.slice_update)
def trivial_update(op: Op, rewriter: Rewriter) -> Op | None:
    """An update of nothing is the operand, an update of everything the update."""
    operand, update = op.operands
    _, step = op.attributes
    if prod(shape_of(update)) == 0:
        return operand
    whole = shape_of(update) == shape_of(operand)
    if whole and all(s == 1 or n == 1 for s, n in zip(step, shape_of(update), strict=True)):
        return update
    return None


@pattern(ops.pad)
def trivial_pad(op: Op, rewriter: Rewriter) -> Op | None:
    """Padding by nothing is the operand; a constant padded with itself is a larger constant."""
    operand, value = op.operands
    if shape_of(operand) == shape_of(op):
        return operand
    return _as_splat(op, [operand, value], rewriter)


def _as_splat(op: Op, parts: list[Op], rewriter: Rewriter) -> Op | None:
    """The constant that an op is whose parts all hold one constant; else None."""
    constants = [splat_of(part) for part in parts]
    first = constants[0]
    if first is None or any(
        # As bytes: 0.0 is not -0.0.
        constant is None or encode(constant.attributes) != encode(first.attributes)
        for constant in constants
    ):
        return None
    return rewriter.expand(first, shape_of(op))


@pattern(ops.concatenate)
def concatenate(op: Op, rewriter: Rewriter) -> Op | None:
    """Nested concatenations become one, parts without elements go, neighbours merge."""
    (axis,) = op.attributes
    parts = _flattened(op, axis)
    parts = [part for part in parts if shape_of(part)[axis]] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    constant = _as_splat(op, parts, rewriter)
    if constant is not None:
        return constant
    runs = _adjacent_slices(parts, axis)
    if runs is None and len(parts) == len(op.operands):
        return None
    merged = parts if runs is None else [_merged(run, axis, rewriter) for run in runs]
    return merged[0] if len(merged) == 1 else rewriter.create(ops.concatenate, merged, (axis,))


def _flattened(op: Op, axis: int) -> list[Op]:
    """The parts of a concatenation, and of those within it that nothing else uses."""
    parts: list[Op] = []
    stack = list(reversed(op.operands))
    while stack:
        part = stack.pop()
        is_nested = part.primitive is ops.concatenate and part.attributes == (axis,)
        if is_nested and len(part.users) == 1 and sum(part.users.values()) == 1:
            stack += reversed(part.operands)
        else:
            parts.append(part)
    return parts


def _adjacent_slices(parts: list[Op], axis: int) -> list[list[Op]] | None:
    """The parts in runs that are neighbouring windows of one array; None if none are."""
    runs: list[list[Op]] = [[parts[0]]]
    for part in parts[1:]:
        if _continues(runs[-1][-1], part, axis):
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs if len(runs) < len(parts) else None


def _continues(before: Op, part: Op, axis: int) -> bool:
    """True if two parts are windows of one array, the second where the first ends."""
    if before.primitive is not ops.slice_ or part.primitive is not ops.slice_:
        return False
    if before.operands[0] is not part.operands[0]:
        return False
    (start, size, step), (start_after, size_after, step_after) = before.attributes, part.attributes
    if step != step_after or step[axis] != 1:
        return False
    expected = (*start[:axis], start[axis] + size[axis], *start[axis + 1 :])
    sizes_agree = (*size[:axis], *size[axis + 1 :]) == (*size_after[:axis], *size_after[axis + 1 :])
    return start_after == expected and sizes_agree


def _merged(run: list[Op], axis: int, rewriter: Rewriter) -> Op:
    if len(run) == 1:
        return run[0]
    start, size, step = run[0].attributes
    total = sum(shape_of(part)[axis] for part in run)
    size = (*size[:axis], total, *size[axis + 1 :])
    return rewriter.create(ops.slice_, run[0].operands, (start, size, step))
