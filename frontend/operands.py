"""Operands of functions as nodes: numbers and arrays, promoted to one dtype and one shape.

Everything here works on graph nodes and is what composites are written with.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dialects import ops
from ..dialects.primitive import Shape
from ..errors import ArgumentError, ArgumentTypeError, AxisError, LaminaError, ShapeError
from . import graph
from .array import Array
from .conversion import MAXIMUM_RANK, NUMBERS, cast, node_from_numpy
from .dtypes import (
    BY_NUMPY,
    PROMOTED,
    WEAK_FLOAT,
    DType,
    Scalar,
    bool_,
    canonical_scalar,
    scalar_dtype,
    weak_dtype,
)
from .graph import Node, make

MAXIMUM_SIZE = 1 << 59
"""Elements of the largest array, so that its bytes in any dtype have a 64-bit number."""


def error(kind: type[LaminaError], function: str, text: str, *nodes: Node) -> LaminaError:
    """The error of a function: its name, its arrays' types, what was wrong, the user's line."""
    if nodes:
        return graph.failure(kind, function, [node.type for node in nodes], text)
    return kind(f"{function}: {text}{graph.user_line()}")


def constant(value: Any, dtype: DType) -> Node:
    """A rank 0 node of a number, rounded to the dtype."""
    return make(ops.constant, (), (canonical_scalar(value, dtype), dtype), (), dtype)


def filled(value: Any, dtype: DType, shape: Shape) -> Node:
    """A number of a dtype, everywhere in a shape."""
    return broadcast(constant(value, dtype), shape)


def check_shape(function: str, shape: Shape, *nodes: Node) -> None:
    """Raises ShapeError for a shape that no array has: too many axes, or too many elements."""
    rank = len(shape)
    if rank > MAXIMUM_RANK:
        text = f"arrays have at most {MAXIMUM_RANK} dimensions, got {rank}"
        raise error(ShapeError, function, text, *nodes)
    # Strides count what lies behind empty axes too.
    if math.prod(shape) > MAXIMUM_SIZE or (
        0 in shape and math.prod(filter(None, shape)) > MAXIMUM_SIZE
    ):
        text = f"an array of shape {shape} has more elements than memory has addresses"
        raise error(ShapeError, function, text, *nodes)


def reshape(node: Node, shape: Shape) -> Node:
    """The node under a shape of as many elements; itself if it has that shape."""
    if node.shape == shape:
        return node
    check_shape("reshape", shape, node)
    return make(ops.reshape, (node,), (shape,), shape, node.dtype)


def broadcast(node: Node, shape: Shape) -> Node:
    """The node under a shape it broadcasts to, which the caller has checked."""
    if node.shape == shape:
        return node
    check_shape("broadcast", shape, node)
    missing = len(shape) - len(node.shape)
    if missing:
        node = reshape(node, (1,) * missing + node.shape)
    if node.shape == shape:
        return node
    return make(ops.broadcast, (node,), (shape,), shape, node.dtype)


def transpose(node: Node, permutation: tuple[int, ...]) -> Node:
    """The node with its axes in another order; itself if that is the order they have."""
    if permutation == tuple(range(len(permutation))):
        return node
    return graph.apply(ops.transpose, (node,), (permutation,))


def slice_axis(node: Node, axis: int, start: int, size: int, step: int = 1) -> Node:
    """The elements ``start + i * step`` for ``i`` below ``size`` along one axis."""
    rank = len(node.shape)
    starts, sizes, steps = [0] * rank, list(node.shape), [1] * rank
    starts[axis], sizes[axis], steps[axis] = start, size, step
    return graph.apply(ops.slice_, (node,), (tuple(starts), tuple(sizes), tuple(steps)))


def position(shape: Shape, dtype: DType, axis: int) -> Node:
    """The position along an axis."""
    return make(ops.iota, (), (shape, dtype, axis), shape, dtype)


def broadcast_shape(a: Shape, b: Shape) -> Shape | None:
    """The shape that two shapes broadcast to, or None if they do not."""
    if len(a) < len(b):
        a, b = b, a
    shape = list(a)
    for i in range(1, len(b) + 1):
        if shape[-i] == 1:
            shape[-i] = b[-i]
        elif b[-i] not in (1, shape[-i]):
            return None
    return tuple(shape)


def common_shape(function: str, nodes: Sequence[Node]) -> Shape:
    """The shape that all nodes broadcast to; ShapeError if there is none."""
    shape = nodes[0].shape
    for node in nodes[1:]:
        joint = broadcast_shape(shape, node.shape)
        if joint is None:
            shapes = " and ".join(str(node.shape) for node in nodes)
            raise error(ShapeError, function, f"shapes {shapes} do not broadcast", *nodes)
        shape = joint
    return shape


def array_node(function: str, value: Any) -> Node:
    """The node of an array, a NumPy array or a number; ArgumentTypeError for anything else."""
    if isinstance(value, Array):
        return value.node
    if isinstance(value, NUMBERS):
        return constant(value, scalar_dtype(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return node_from_numpy(np.asarray(value))
    raise error(ArgumentTypeError, function, f"takes arrays and numbers, got {_kind(value)}")


def is_numpy_number(value: Any) -> bool:
    """True for NumPy's scalars of dtypes that arrays can hold."""
    return isinstance(value, np.generic) and (
        value.dtype in BY_NUMPY or isinstance(value, np.complex128)
    )


def _kind(value: Any) -> str:
    hint = "; make an array of it first" if isinstance(value, (list, tuple)) else ""
    return f"{type(value).__name__}{hint}"


def promote(function: str, *values: Any) -> tuple[list[Node], DType]:
    """The operands as nodes of one dtype, their shapes as they are, and that dtype.

    Numbers are weak; NumPy's scalars count as numbers. Raises ArgumentTypeError for other kinds.
    """
    operands: list[Any] = []
    dtype: DType | None = None
    has_numbers = False
    for value in values:
        if isinstance(value, Array):
            node = value.node
        elif isinstance(value, NUMBERS) or is_numpy_number(value):
            operands.append(value.item() if isinstance(value, np.generic) else value)
            has_numbers = True
            continue
        else:
            node = array_node(function, value)
        operands.append(node)
        dtype = node.dtype if dtype is None else PROMOTED[dtype, node.dtype]
    if has_numbers or dtype is None:
        dtype = _with_numbers(function, operands, dtype)
        operands = [x if isinstance(x, Node) else constant(x, dtype) for x in operands]
    return [cast(x, dtype) for x in operands], dtype


def _with_numbers(function: str, operands: list[Any], dtype: DType | None) -> DType:
    numbers = [x for x in operands if not isinstance(x, Node)]
    for value in numbers:
        if not isinstance(value, NUMBERS):
            raise error(ArgumentTypeError, function, f"takes arrays and numbers, got {value!r}")
        try:
            if dtype is None:
                dtype = scalar_dtype(value)
            elif type(value) is int and all(not isinstance(x, Node) for x in operands):
                dtype = PROMOTED[dtype, scalar_dtype(value)]
            else:
                dtype = weak_dtype(dtype, value)
        except ArgumentError as problem:
            nodes = [x for x in operands if isinstance(x, Node)]
            raise error(ArgumentError, function, str(problem), *nodes) from None
    return dtype if dtype is not None else bool_


def number_operand(value: Any, node: Node) -> tuple[Node, Node] | None:
    """A number beside an array: both as nodes of one dtype and the array's shape, array first.

    The quick way of :func:`broadcast_together` for the commonest operands; None where the number is
    of a kind, or out of a range, that needs the long way.
    """
    dtype = node.dtype
    kind = type(value)
    if kind is float:
        if not dtype.is_inexact:
            dtype = WEAK_FLOAT[dtype]
    elif kind is not int or (not dtype.is_inexact and not -128 <= value <= 127):
        return None
    elif dtype.kind in ("bool", "unsigned"):
        return None
    shape = node.shape
    number = Node(ops.constant, (), (canonical_scalar(value, dtype), dtype), (), dtype)
    if shape:
        ones = (1,) * len(shape)
        number = Node(ops.reshape, (number,), (ones,), ones, dtype)
        if shape != ones:
            number = Node(ops.broadcast, (number,), (shape,), shape, dtype)
    return (node if node.dtype is dtype else cast(node, dtype)), number


def broadcast_together(function: str, *values: Any) -> tuple[list[Node], DType]:
    """The operands as nodes of one dtype and one shape, and that dtype.

    Raises ShapeError where the shapes do not broadcast.
    """
    nodes, dtype = promote(function, *values)
    shape = common_shape(function, nodes)
    return [broadcast(node, shape) for node in nodes], dtype


def as_index(function: str, value: Any, what: str) -> int:
    """An integer argument; ArgumentTypeError for what is none, ArgumentError beyond 64 bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise error(
            ArgumentTypeError, function, f"{what} must be an integer, got {type(value).__name__}"
        ) from None
    if not -(1 << 63) <= number < 1 << 63:
        text = f"{what} must fit in 64 bits, got an integer of {number.bit_length()}"
        raise error(ArgumentError, function, text)
    return number


def as_number(function: str, value: Any, what: str) -> Scalar:
    """A number, or NumPy's of rank 0, as a Python scalar; ArgumentTypeError for anything else."""
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if is_numpy_number(value):
        value = value.item()
    if isinstance(value, NUMBERS):
        return value
    text = f"{what} must be a number, got {type(value).__name__}"
    raise error(ArgumentTypeError, function, text)


def as_indices(function: str, value: Any, what: str) -> tuple[int, ...]:
    """An integer argument or a sequence of them, as a tuple."""
    if isinstance(value, (list, tuple)):
        return tuple([as_index(function, one, what) for one in value])
    return (as_index(function, value, what),)


def as_shape(function: str, value: Any) -> Shape:
    """A shape argument: an integer or a sequence of them, none negative."""
    shape = as_indices(function, value, "a size")
    if any(extent < 0 for extent in shape):
        raise error(ShapeError, function, f"sizes must not be negative, got {shape}")
    check_shape(function, shape)
    return shape


def normalize_axis(function: str, axis: Any, node: Node, rank: int | None = None) -> int:
    """An axis counted from the front; AxisError if the array (or ``rank``) has no such axis."""
    number = as_index(function, axis, "an axis")
    rank = len(node.shape) if rank is None else rank
    if not -rank <= number < rank:
        text = f"axis {number} is out of range for {rank} dimensions"
        raise error(AxisError, function, text, node)
    return number % rank


def normalize_axes(
    function: str, axes: Any, node: Node, rank: int | None = None
) -> tuple[int, ...]:
    """Axes counted from the front, in the order given; None is all of them, duplicates an error."""
    if axes is None:
        return tuple(range(len(node.shape) if rank is None else rank))
    numbers = as_indices(function, axes, "an axis")
    normal = tuple([normalize_axis(function, axis, node, rank) for axis in numbers])
    if len(set(normal)) != len(normal):
        raise error(ShapeError, function, f"axes {numbers} name an axis twice", node)
    return normal
