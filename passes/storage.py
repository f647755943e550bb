"""Where values live: shared storage for updates and reshapes, and workspace by lifetime.

A buffer is named by a kind and a byte offset or an index: ``input0``, ``output1``, ``literal+8``,
``workspace+4096``.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

ALIGNMENT = 64


@dataclass(slots=True)
class _Storage:
    """A buffer that several values share."""

    nbytes: int
    first: int
    last: int
    name: str | None = None


class StoragePlan:
    """Gives every value of a straight line of steps a buffer.

    Values are any hashable objects. Define them in the order of the steps, then call
    :meth:`finish`, and read :meth:`name`.
    """

    def __init__(self) -> None:
        self._storage: dict[Hashable, _Storage] = {}
        self.step = 0

    def __contains__(self, value: Hashable) -> bool:
        return value in self._storage

    def named(self, value: Hashable, name: str) -> None:
        """A value that lives in a buffer of the caller's or among the literals."""
        self._storage[value] = _Storage(0, self.step, self.step, name)

    def define(self, value: Hashable, nbytes: int) -> None:
        """A value that the current step makes."""
        self._storage[value] = _Storage(nbytes, self.step, self.step)

    def share(self, value: Hashable, owner: Hashable) -> None:
        """A value that lies in another one's buffer: its reshape, or its update in place."""
        self._storage[value] = self._storage[owner]

    def use(self, value: Hashable) -> None:
        """The current step reads or updates a value."""
        self._storage[value].last = self.step

    def finish(self, results: Sequence[Hashable]) -> int:
        """Names the rest of the buffers; the bytes of workspace they need."""
        for number, value in enumerate(results):
            storage = self._storage[value]
            if storage.name is None:
                storage.name = f"output{number}"
        waiting = {id(s): s for s in self._storage.values() if s.name is None}
        space = _Space()
        live: list[tuple[int, int, int]] = []
        for storage in sorted(waiting.values(), key=lambda s: s.first):
            while live and live[0][0] < storage.first:
                _, start, stop = heapq.heappop(live)
                space.release(start, stop)
            wanted = aligned(max(storage.nbytes, 1))
            offset = space.take(wanted)
            storage.name = f"workspace+{offset}"
            heapq.heappush(live, (storage.last, offset, offset + wanted))
        return space.size

    def name(self, value: Hashable) -> str:
        """The name of a value's buffer."""
        return self._storage[value].name or ""


class _Space:
    """Bytes from 0 on, handed out by best fit; free neighbours are one gap.

    Attributes:
        size: where the space that was ever in use ends.
    """

    def __init__(self) -> None:
        self.size = 0
        self._by_size: list[tuple[int, int]] = []
        self._stop_of: dict[int, int] = {}
        self._start_of: dict[int, int] = {}

    def take(self, nbytes: int) -> int:
        """The start of ``nbytes`` free bytes: the smallest gap that holds them, else the end."""
        position = bisect.bisect_left(self._by_size, (nbytes, 0))
        if position < len(self._by_size):
            start = self._by_size[position][1]
            stop = self._stop_of[start]
        else:
            # The last gap may reach the end, which then moves on.
            start = self._start_of.get(self.size, self.size)
            stop = self.size
            self.size = start + nbytes
        if start < stop:
            self._remove(start, stop)
        if start + nbytes < stop:
            self._add(start + nbytes, stop)
        return start

    def release(self, start: int, stop: int) -> None:
        """Gives bytes back."""
        before, after = self._start_of.get(start), self._stop_of.get(stop)
        if before is not None:
            self._remove(before, start)
            start = before
        if after is not None:
            self._remove(stop, after)
            stop = after
        self._add(start, stop)

    def _add(self, start: int, stop: int) -> None:
        bisect.insort(self._by_size, (stop - start, start))
        self._stop_of[start], self._start_of[stop] = stop, start

    def _remove(self, start: int, stop: int) -> None:
        del self._by_size[bisect.bisect_left(self._by_size, (stop - start, start))]
        del self._stop_of[start], self._start_of[stop]


def aligned(nbytes: int) -> int:
    """Bytes rounded up to a multiple of the alignment."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
