"""Bytes of arrays under other dtypes, composed of casts, shifts and same-size bit casts."""

from __future__ import annotations

from ..dialects import ops
from . import complexes, graph
from .dtypes import DType, bool_, complex64, float32, uint8, uint16, uint32, uint64
from .graph import Node
from .operands import broadcast, cast, filled, position, reshape, slice_axis

_UNSIGNED = {1: uint8, 2: uint16, 4: uint32, 8: uint64}


def view(node: Node, dtype: DType) -> Node:
    """The bytes of a node under a dtype; the last axis, which must fit, grows or shrinks."""
    if node.dtype is dtype:
        return node
    if not node.shape:
        return reshape(view(reshape(node, (1,)), dtype), ())
    if node.dtype is complex64:
        return view(_parts(node), dtype)
    if dtype is complex64:
        return _from_parts(view(node, float32))
    bits = _resized(_as_unsigned(node), dtype.size)
    return cast(bits, bool_) if dtype is bool_ else _bitcast(bits, dtype)


def _bitcast(node: Node, dtype: DType) -> Node:
    if node.dtype is dtype:
        return node
    return graph.make(ops.bitcast, (node,), (dtype,), node.shape, dtype)


def _as_unsigned(node: Node) -> Node:
    if node.dtype is bool_:
        return cast(node, uint8)
    return _bitcast(node, _UNSIGNED[node.dtype.size])


def _resized(node: Node, size: int) -> Node:
    """Unsigned integers of ``size`` bytes, little-endian, from those of another size."""
    old = node.dtype.size
    if old == size:
        return node
    wide, ratio = _UNSIGNED[max(old, size)], max(old, size) // min(old, size)
    lead = node.shape[:-1]
    if old > size:
        shape = (*node.shape, ratio)
        node = broadcast(reshape(node, (*node.shape, 1)), shape)
        shifted = graph.apply(ops.right_shift, (node, _shifts(shape, wide, 8 * size)))
        return reshape(cast(shifted, _UNSIGNED[size]), (*lead, shape[-2] * ratio))
    count = node.shape[-1] // ratio
    shape = (*lead, count, ratio)
    node = cast(reshape(node, shape), wide)
    shifted = graph.apply(ops.left_shift, (node, _shifts(shape, wide, 8 * old)))
    total = graph.apply(ops.reduce_sum, (shifted,), ((len(shape) - 1,),))
    return reshape(total, (*lead, count))


def _shifts(shape: tuple[int, ...], dtype: DType, bits: int) -> Node:
    places = position(shape, dtype, len(shape) - 1)
    return graph.apply(ops.multiply, (places, filled(bits, dtype, shape)))


def _parts(node: Node) -> Node:
    """Complex numbers as twice as many float32 along the last axis."""
    parts = [reshape(part(node), (*node.shape, 1)) for part in (complexes.real, complexes.imag)]
    joined = graph.apply(ops.concatenate, tuple(parts), (len(node.shape),))
    return reshape(joined, (*node.shape[:-1], 2 * node.shape[-1]))


def _from_parts(parts: Node) -> Node:
    """Pairs of float32 along the last axis as complex numbers."""
    pairs = reshape(parts, (*parts.shape[:-1], parts.shape[-1] // 2, 2))
    last = len(pairs.shape) - 1
    real, imag = [slice_axis(pairs, last, index, 1) for index in range(2)]
    return complexes.join(reshape(real, pairs.shape[:-1]), reshape(imag, pairs.shape[:-1]))
