"""Arrays from Python data: numbers, nested lists and NumPy arrays become nodes with buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dialects import ops, reference
from ..dialects.primitive import Shape, TensorType
from ..errors import ArgumentError, ArgumentTypeError, LaminaError, ShapeError
from ..runtime.buffer import copy_of
from . import graph
from .dtypes import (
    PROMOTED,
    DType,
    canonical_scalar,
    complex64,
    float32,
    float64,
    from_numpy,
    scalar_dtype,
)
from .graph import Node

NUMBERS = (bool, int, float, complex)
"""The types of Python numbers."""
MAXIMUM_RANK = 64

# The NumPy dtype that holds Python numbers exactly, by the kind that comes last in a list.
_HOSTS = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}


def node_from_data(data: Any, dtype: DType | None) -> Node:
    """The node of what ``lamina.array`` takes: a number, an array, nested lists of these.

    Raises ShapeError with the path for ragged lists, ArgumentTypeError for other kinds of data.
    """
    if isinstance(data, NUMBERS) and not isinstance(data, np.generic):
        return _number_node(data, dtype)
    node = getattr(data, "node", None)
    if isinstance(node, Node):
        return cast(node, dtype or node.dtype)
    if isinstance(data, (list, tuple)):
        return _sequence_node(data, dtype)
    if isinstance(data, (np.ndarray, np.generic)) or hasattr(data, "__array__"):
        return node_from_numpy(np.asarray(data), dtype)
    text = f"takes numbers, nested lists and arrays, got {type(data).__name__}"
    raise _error(ArgumentTypeError, text)


def node_from_numpy(data: np.ndarray[Any, Any], dtype: DType | None = None) -> Node:
    """A node with a copy of a NumPy array's data.

    Without a dtype, NumPy's ``float64`` becomes ``float32`` and ``complex128`` ``complex64``.
    Raises DTypeError for data that arrays cannot hold.
    """
    try:
        found = from_numpy(data.dtype)
    except LaminaError as problem:
        raise _error(type(problem), str(problem)) from None
    if dtype is None:
        dtype = float32 if found is float64 else found
    return filled_node(_converted(data, found, dtype), dtype)


def filled_node(data: np.ndarray[Any, Any], dtype: DType) -> Node:
    """A node with a copy of data that has the dtype's bits already."""
    return Node(None, (), (), data.shape, dtype, copy_of(data))


def read_only(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory in an array whose owner cannot make it writeable."""
    if not values.size:
        return values
    memory = values.reshape(-1).view(np.uint8).data.toreadonly()
    return np.frombuffer(memory, values.dtype).reshape(values.shape)


def _error(kind: type[LaminaError], text: str) -> LaminaError:
    return kind(f"array: {text}{graph.user_line()}")


def cast(node: Node, dtype: DType) -> Node:
    """The node in a dtype; itself if it has that dtype."""
    if node.dtype is dtype:
        return node
    return graph.make(ops.cast, (node,), (dtype,), node.shape, dtype)


def _converted(data: np.ndarray[Any, Any], found: DType, dtype: DType) -> np.ndarray[Any, Any]:
    if data.dtype != found.numpy:  # foreign byte order, or complex128
        with np.errstate(over="ignore"):
            data = data.astype(found.numpy)
    if found is dtype:
        return data
    return reference.evaluate(ops.cast, [data], (dtype,), TensorType(data.shape, dtype))


def _number_node(value: Any, dtype: DType | None) -> Node:
    try:
        dtype = scalar_dtype(value) if dtype is None else dtype
    except ArgumentError as problem:
        raise _error(ArgumentError, str(problem)) from None
    value = canonical_scalar(value, dtype)
    if graph.current.trace is not None:
        return graph.make(ops.constant, (), (value, dtype), (), dtype)
    return filled_node(np.array(value, dtype.numpy), dtype)


def _sequence_node(data: Sequence[Any], dtype: DType | None) -> Node:
    shape = _leading_shape(data)
    leaves: list[Any] = []
    try:
        _collect(data, shape, 0, (), leaves)
    except ShapeError:
        if not _holds_array(data):
            raise
        return _stacked_node(list(data), (len(data),), dtype)
    kinds = set(map(type, leaves))
    if kinds <= _HOSTS.keys():
        return _numbers_node(leaves, kinds, shape, dtype)
    if all(issubclass(kind, np.generic) for kind in kinds):
        return node_from_numpy(np.array(leaves).reshape(shape), dtype)
    return _stacked_node(leaves, shape, dtype)


def _leading_shape(data: Any) -> Shape:
    """The shape of nested lists, going by the first of each."""
    shape: list[int] = []
    while isinstance(data, (list, tuple)):
        shape.append(len(data))
        if len(shape) > MAXIMUM_RANK:
            raise _error(ShapeError, f"lists are nested more than {MAXIMUM_RANK} deep")
        if not data:
            break
        data = data[0]
    return tuple(shape)


def _collect(
    data: Sequence[Any], shape: Shape, level: int, path: tuple[int, ...], leaves: list[Any]
) -> None:
    """Appends the leaves of nested lists of a shape; ShapeError names the first odd one's path."""
    if len(data) != shape[level]:
        place = "".join(f"[{i}]" for i in path)
        text = f"the list at {place} has length {len(data)}, others there have {shape[level]}"
        raise _error(ShapeError, f"ragged nested lists: {text}")
    is_innermost = level == len(shape) - 1
    for i, item in enumerate(data):
        if isinstance(item, (list, tuple)) is is_innermost:
            place = "".join(f"[{j}]" for j in (*path, i))
            found = "a list" if is_innermost else type(item).__name__
            wanted = type(data[0]).__name__ if is_innermost else "a list"
            raise _error(
                ShapeError, f"ragged nested lists: {found} at {place}, others there are {wanted}"
            )
        if not is_innermost:
            _collect(item, shape, level + 1, (*path, i), leaves)
    if is_innermost:
        leaves.extend(data)


def _holds_array(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(map(_holds_array, data))
    return hasattr(data, "shape")


def _numbers_node(leaves: list[Any], kinds: set[type], shape: Shape, dtype: DType | None) -> Node:
    if not leaves:
        dtype = dtype or float32
        return filled_node(np.empty(shape, dtype.numpy), dtype)
    kind = max(kinds, key=list(_HOSTS).index)
    try:
        host = np.array(leaves, _HOSTS[kind])
    except OverflowError:
        return _large_numbers_node(leaves, shape, dtype)
    if dtype is None:
        if kind is int:
            dtype = PROMOTED[scalar_dtype(int(host.min())), scalar_dtype(int(host.max()))]
        else:
            dtype = scalar_dtype(kind())
    found = complex64 if kind is complex else from_numpy(host.dtype)
    return filled_node(_converted(host.reshape(shape), found, dtype), dtype)


def _large_numbers_node(leaves: list[Any], shape: Shape, dtype: DType | None) -> Node:
    """Integers beyond 64 bits, or unsigned ones, one by one."""
    if dtype is None:
        try:
            dtype = scalar_dtype(max(leaves))
            scalar_dtype(min(leaves))
        except ArgumentError as problem:
            raise _error(ArgumentError, str(problem)) from None
        if min(leaves) < 0:
            text = f"no integer dtype holds both {min(leaves)} and {max(leaves)}"
            raise _error(ArgumentError, text)
    values = [canonical_scalar(leaf, dtype) for leaf in leaves]
    return filled_node(np.array(values, dtype.numpy).reshape(shape), dtype)


def _stacked_node(leaves: list[Any], shape: Shape, dtype: DType | None) -> Node:
    """Lists with arrays among the leaves: stacked along new leading axes."""
    nodes = [node_from_data(leaf, None) for leaf in leaves]
    if dtype is None:
        dtype = nodes[0].dtype
        for node in nodes:
            dtype = PROMOTED[dtype, node.dtype]
    inner = nodes[0].shape
    for node in nodes:
        if node.shape != inner:
            text = f"arrays in a list must have one shape, got {inner} and {node.shape}"
            raise _error(ShapeError, text)
    rows = [graph.apply(ops.reshape, (cast(node, dtype),), ((1, *inner),)) for node in nodes]
    return graph.apply(
        ops.reshape, (graph.apply(ops.concatenate, tuple(rows), (0,)),), ((*shape, *inner),)
    )
