"""The part of the cache in memory: entries by key, bounded by bytes, least recently used out."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

Parts = Mapping[str, bytes]
Identity = tuple[str, bytes]

_OVERHEAD = 512
"""Bytes counted for an entry's own objects."""


class MemoryCache:
    """Parts by ``(kind, key)``; threads may share it."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.nbytes = 0
        self._entries: OrderedDict[Identity, Parts] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, identity: Identity) -> Parts | None:
        """The parts kept under a key, which become the most recently used, or None."""
        with self._lock:
            parts = self._entries.get(identity)
            if parts is not None:
                self._entries.move_to_end(identity)
            return parts

    def put(self, identity: Identity, parts: Parts) -> None:
        """Keeps parts, and drops the least recently used beyond the bound."""
        size = _size(parts)
        with self._lock:
            self._drop(identity)
            if size > self.max_bytes:
                return
            self._entries[identity] = parts
            self.nbytes += size
            while self.nbytes > self.max_bytes:
                self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        """Drops everything."""
        with self._lock:
            self._entries.clear()
            self.nbytes = 0

    def renew_lock(self) -> None:
        """Makes the lock usable in a forked child, whichever thread held it in the parent."""
        self._lock = threading.Lock()

    def _drop(self, identity: Identity) -> None:
        parts = self._entries.pop(identity, None)
        if parts is not None:
            self.nbytes -= _size(parts)


def _size(parts: Parts) -> int:
    return _OVERHEAD + sum(map(len, parts.values()))
