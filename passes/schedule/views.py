"""Strided views of dense buffers: what a chain of view ops reads, as an offset and strides."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ...dialects import ops
from ...dialects.primitive import Attributes, Primitive, Shape


@dataclass(frozen=True, slots=True)
class View:
    """Element ``index`` lies at ``offset + sum(index * strides)`` elements of the buffer."""

    shape: Shape
    strides: tuple[int, ...]
    offset: int = 0


def dense(shape: Shape) -> View:
    """The row-major view of a whole buffer."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return View(shape, tuple(reversed(strides)))


def apply(primitive: Primitive, view: View, attributes: Attributes) -> View | None:
    """The view after a view op, or None if no strides describe it (some reshapes)."""
    if primitive is ops.reshape:
        return reshape(view, attributes[0])
    if primitive is ops.transpose:
        (permutation,) = attributes
        shape = tuple(view.shape[axis] for axis in permutation)
        return View(shape, tuple(view.strides[axis] for axis in permutation), view.offset)
    if primitive is ops.broadcast:
        strides = tuple(
            stride if old == new else 0
            for old, new, stride in zip(view.shape, attributes[0], view.strides, strict=True)
        )
        return View(attributes[0], strides, view.offset)
    assert primitive is ops.slice_
    start, size, step = attributes
    offset = view.offset + sum(a * b for a, b in zip(start, view.strides, strict=True))
    strides = tuple(a * b for a, b in zip(step, view.strides, strict=True))
    return View(size, strides, offset)


def reshape(view: View, shape: Shape) -> View | None:
    """The view under another shape, or None if its elements then have no constant strides.

    Runs of axes that merge into one on the old side are matched with runs of equal size on the new
    side, as NumPy's ``_attempt_nocopy_reshape`` does.
    """
    if prod(shape) == 0:
        return View(shape, (0,) * len(shape), view.offset)
    old = [(n, s) for n, s in zip(view.shape, view.strides, strict=True) if n != 1]
    strides = [0] * len(shape)
    i = j = 0
    while i < len(old):
        old_end, new_end = i + 1, j
        old_size, new_size = old[i][0], 1
        while old_size != new_size:
            if old_size < new_size:
                old_size *= old[old_end][0]
                old_end += 1
            else:
                new_size *= shape[new_end]
                new_end += 1
        for k in range(i, old_end - 1):
            if old[k][1] != old[k + 1][1] * old[k + 1][0]:
                return None
        step = old[old_end - 1][1]
        for k in range(new_end - 1, j - 1, -1):
            strides[k] = step
            step *= shape[k]
        i, j = old_end, new_end
    return View(shape, tuple(strides), view.offset)
