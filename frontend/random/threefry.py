"""Threefry-2x32, the counter-based generator behind every draw.

A key of two 32-bit words and a counter of two give two words. Word ``i`` of a draw of ``n`` words
depends on the key, ``i`` and ``n`` only: with ``half = ceil(n / 2)``, the counters
``(i, i + half)`` for ``i`` below ``half`` give the words ``i`` and ``i + half``. Where ``n`` is
odd, the last counter is ``(half - 1, 0)`` and its second word is dropped.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from ...dialects import ops
from ...dialects.primitive import Primitive, Shape
from ..dtypes import bool_, uint32
from ..graph import Node
from ..operands import broadcast, filled, position, reshape, slice_axis

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_MASK = 0xFFFFFFFF

Pair = tuple[int, int]
"""Two 32-bit words."""


def hash_pair(key: Pair, counter: Pair) -> Pair:
    """The two words of one counter, on Python integers."""
    keys = (*key, key[0] ^ key[1] ^ _PARITY)
    x = (counter[0] + keys[0]) & _MASK
    y = (counter[1] + keys[1]) & _MASK
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = (x + y) & _MASK
            y = ((y << rotation) & _MASK | y >> (32 - rotation)) ^ x
        x = (x + keys[(group + 1) % 3]) & _MASK
        y = (y + keys[(group + 2) % 3] + group + 1) & _MASK
    return x, y


def split_pair(key: Pair) -> tuple[Pair, Pair]:
    """The two keys that a key splits into, on Python integers."""
    (a, c), (b, d) = hash_pair(key, (0, 2)), hash_pair(key, (1, 3))
    return (a, b), (c, d)


class _Lanes:
    """Arithmetic on uint32 nodes of one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._numbers: dict[int, Node] = {}

    def apply(self, primitive: Primitive, x: Node, y: Node) -> Node:
        # Made without the user's line: a draw has some hundred nodes, and none of them can fail.
        return Node(primitive, (x, y), (), self.shape, uint32)

    def number(self, value: int) -> Node:
        node = self._numbers.get(value)
        if node is None:
            node = self._numbers[value] = filled(value, uint32, self.shape)
        return node

    def add(self, x: Node, y: Node) -> Node:
        return self.apply(ops.add, x, y)

    def xor(self, x: Node, y: Node) -> Node:
        return self.apply(ops.bitwise_xor, x, y)

    def rotate(self, x: Node, bits: int) -> Node:
        high = self.apply(ops.left_shift, x, self.number(bits))
        return self.apply(ops.bitwise_or, high, self.apply(
            ops.right_shift, x, self.number(32 - bits)
        ))  # fmt: skip


def _hashed(key: Node, x: Node, y: Node) -> tuple[Node, Node]:
    """The two words of each counter ``(x, y)``; the key has shape (2,)."""
    lanes = _Lanes(x.shape)
    low, high = [
        broadcast(reshape(slice_axis(key, 0, i, 1), (1,) * len(x.shape)), x.shape) for i in range(2)
    ]
    keys = (low, high, lanes.xor(lanes.xor(low, high), lanes.number(_PARITY)))
    x, y = lanes.add(x, keys[0]), lanes.add(y, keys[1])
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = lanes.add(x, y)
            y = lanes.xor(lanes.rotate(y, rotation), x)
        x = lanes.add(x, keys[(group + 1) % 3])
        y = lanes.add(y, lanes.add(keys[(group + 2) % 3], lanes.number(group + 1)))
    return x, y


def words(key: Node, count: int) -> list[Node]:
    """The words of a draw, as one or two uint32 nodes of rank 1 that follow one another.

    What a distribution does to each word is best done before the two are joined: then it is
    computed in the kernel that makes the words.

    Args:
        key: uint32 of shape (2,).
        count: how many words.
    """
    half = (count + 1) // 2
    if not half:
        return [filled(0, uint32, (0,))]
    shape = (half,)
    lanes = _Lanes(shape)
    first = position(shape, uint32, 0)
    second = lanes.add(first, lanes.number(half & _MASK))
    if count % 2:
        is_last = Node(ops.equal, (first, lanes.number((half - 1) & _MASK)), (), shape, bool_)
        second = Node(ops.select, (is_last, lanes.number(0), second), (), shape, uint32)
    x, y = _hashed(key, first, second)
    if count == 1:
        return [x]
    return [x, y if count % 2 == 0 else slice_axis(y, 0, 0, half - 1)]
