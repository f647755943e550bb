"""Keys, and the state that draws without a key advance.

Each thread has a state of its own: a list that holds one key. A draw without a key splits it in two
and keeps the first.
"""

from __future__ import annotations

import operator
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...dialects import ops
from ...errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from .. import graph
from ..array import Array, wrap
from ..conversion import filled_node
from ..devices import StreamLike, check_stream
from ..dtypes import uint32
from ..evaluate import data
from ..graph import Node, current
from ..operands import array_node, as_index, error, reshape, slice_axis
from ..sharing import BUSY, FunctionTrace
from .threefry import Pair, hash_pair, split_pair, words

_THREAD = 0x74687264
"""The second word of the counters that give threads their keys."""


def key(seed: int) -> Array:
    """The key of a seed.

    Args:
        seed: an integer from 0 to 2**64 - 1.

    Returns the array ``[seed >> 32, seed & 0xffffffff]``, uint32 of shape (2,). Raises
    ArgumentTypeError for anything but an integer and ArgumentError for one out of range.
    """
    return wrap(_key_node(_pair("key", seed)))


def seed(seed: int) -> None:
    """Sets the calling thread's state to the key of a seed.

    Threads that draw for the first time afterwards start from keys derived from this seed.

    Args:
        seed: as :func:`key` takes.
    """
    pair = _pair("seed", seed)
    _origin.set(pair)
    _thread.keys[:] = [wrap(_key_node(pair))]


def split(key: Any, num: int = 2, stream: StreamLike = None) -> Array:
    """Independent keys made from one, which should not be used again.

    Args:
        key: uint32 of shape (2,).
        num: how many.
        stream: where to run; None is the default device.

    Returns uint32 of shape (num, 2). Raises ShapeError for a negative number or a key of another
    shape and DTypeError for a key of another dtype.
    """
    check_stream(stream)
    count = as_index("split", num, "num")
    if count < 0:
        raise error(ShapeError, "split", f"num must not be negative, got {count}")
    return wrap(_split_node(key_node("split", key), count))


def _pair(function: str, seed: Any) -> Pair:
    try:
        number = operator.index(seed)
    except TypeError:
        text = f"the seed must be an integer, got {type(seed).__name__}"
        raise error(ArgumentTypeError, function, text) from None
    if not 0 <= number < 1 << 64:
        raise error(ArgumentError, function, "the seed must be from 0 to 2**64 - 1")
    return _halves(number)


def _halves(number: int) -> Pair:
    return number >> 32, number & 0xFFFFFFFF


def _key_node(pair: Pair) -> Node:
    return filled_node(np.array(pair, np.uint32), uint32)


def _split_node(node: Node, count: int) -> Node:
    pieces = words(node, 2 * count)
    if len(pieces) == 1:
        return reshape(pieces[0], (count, 2))
    return reshape(graph.apply(ops.concatenate, tuple(pieces), (0,)), (count, 2))


def key_node(function: str, key: Any) -> Node:
    """The node of a key that a function was given, or of the next one of the state for None."""
    if key is None:
        return _next_key(function)
    node = array_node(function, key)
    if node.dtype is not uint32:
        raise error(DTypeError, function, "a key is uint32; lamina.random.key makes one", node)
    if node.shape != (2,):
        raise error(ShapeError, function, "a key has shape (2,)", node)
    return node


class _Origin:
    """Where threads' states start: apart from one another, from the seed that was set last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pair: Pair | None = None
        self._threads = 0

    def set(self, pair: Pair) -> None:
        with self._lock:
            self._pair = pair
            self._threads = 0

    def next(self) -> Pair:
        with self._lock:
            if self._pair is None:
                return _halves(int.from_bytes(os.urandom(8), "little"))
            self._threads += 1
            return hash_pair(self._pair, (self._threads, _THREAD))

    def reset_lock(self) -> None:
        self._lock = threading.Lock()


class _ThreadState(threading.local):
    """A thread's state, made when the thread first asks for it.

    Attributes:
        keys: the list that holds the key.
        warned: the trace that a warning was given in last.
    """

    def __init__(self) -> None:
        self.keys: list[Array] = [wrap(_key_node(_origin.next()))]
        self.warned: FunctionTrace | None = None


_origin = _Origin()
_thread = _ThreadState()
_warned_lines: set[tuple[str, str, int]] = set()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_origin.reset_lock)


class RandomState:
    """The calling thread's state, as a list of one key.

    Name it in ``inputs=`` and ``outputs=`` of :func:`lamina.compile`, alone or among other
    containers, and draws in the function advance it.
    """

    __slots__ = ()

    def __lamina_state__(self) -> list[Array]:
        """The list that stands for the calling thread's state."""
        return _thread.keys

    @property
    def node(self) -> Node:
        """The key's node, so that ``eval`` takes the state among arrays."""
        return _thread.keys[0].node

    def __len__(self) -> int:
        return len(_thread.keys)

    def __iter__(self) -> Iterator[Array]:
        return iter(_thread.keys)

    def __getitem__(self, index: Any) -> Any:
        return _thread.keys[index]

    def __setitem__(self, index: int, value: Any) -> None:
        if range(1)[index] != 0 or not isinstance(value, Array):
            raise error(ArgumentTypeError, "state", "holds one key, which is an array")
        key_node("state", value)
        _thread.keys[0] = value

    def __repr__(self) -> str:
        return f"lamina.random.state({_thread.keys!r})"

    def __reduce__(self) -> str:
        return "state"


state = RandomState()
"""The calling thread's state."""


def _next_key(function: str) -> Node:
    """Advances the calling thread's state and returns the key that it gave."""
    keys = _thread.keys
    node = key_node(function, keys[0])
    trace = current.trace
    is_fixed = node.buffer is not None or node.trace is None
    if trace is None or not is_fixed or _is_captured(keys):
        return _advance(keys, node)
    if isinstance(trace, FunctionTrace):
        _warn(function, trace)
    # The state outlives the trace, so its keys must not belong to it.
    current.trace = None
    try:
        return _advance(keys, node)
    finally:
        current.trace = trace


def _advance(keys: list[Array], node: Node) -> Node:
    if node.buffer is not None:
        # On the host: one hash is less work than one launch.
        low, high = data(node).tolist()
        kept, given = split_pair((low, high))
        keys[0] = wrap(_key_node(kept))
        return _key_node(given)
    both = _split_node(node, 2)
    kept, given = [reshape(slice_axis(both, 0, i, 1), (2,)) for i in range(2)]
    keys[0] = wrap(kept)
    return given


def _is_captured(keys: list[Array]) -> bool:
    """True while this thread traces a function that captures the state."""
    owner = BUSY.get(id(keys))
    return owner is not None and owner.thread == threading.get_ident()


def _warn(function: str, trace: FunctionTrace) -> None:
    """Warns at the first draw of a function's trace, once for its line."""
    frame = graph.user_frame()
    if frame is None or _thread.warned is trace:
        return
    _thread.warned = trace
    filename, line = frame.f_code.co_filename, frame.f_lineno
    if (trace.name, filename, line) in _warned_lines:
        return
    _warned_lines.add((trace.name, filename, line))
    warnings.warn_explicit(
        f"{trace.name} is compiled without lamina.random.state, so random.{function} at "
        f"{filename}:{line} gives the same numbers in every call; name the state in inputs= and "
        "outputs=, or pass a key",
        UserWarning,
        filename,
        line,
    )
