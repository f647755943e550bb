"""Where values live: shared storage for updates and reshapes, and workspace by lifetime.

A buffer is named by a kind and a byte offset or an index: ``input0``, ``output1``, ``literal+8``,
``workspace+4096``.
"""

from __future__ import annotations

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
        live: list[tuple[int, int, int]] = []
        size = 0
        for storage in sorted(waiting.values(), key=lambda s: s.first):
            live = sorted(entry for entry in live if entry[2] >= storage.first)
            wanted = aligned(max(storage.nbytes, 1))
            offset = 0
            for start, stop, _ in live:
                if start - offset >= wanted:
                    break
                offset = max(offset, stop)
            storage.name = f"workspace+{offset}"
            live.append((offset, offset + wanted, storage.last))
            size = max(size, offset + wanted)
        return size

    def name(self, value: Hashable) -> str:
        """The name of a value's buffer."""
        return self._storage[value].name or ""


def aligned(nbytes: int) -> int:
    """Bytes rounded up to a multiple of the alignment."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
