"""Buffers: dense blocks of device memory from a pool."""

from __future__ import annotations

from typing import Any

import numpy as np

ALIGNMENT = 64


class Buffer:
    """A dense block of memory, aligned to 64 bytes."""

    __slots__ = ("__weakref__", "_memory", "address", "nbytes")

    def __init__(self, memory: np.ndarray[Any, Any], address: int, nbytes: int) -> None:
        self._memory = memory
        self.address = address
        self.nbytes = nbytes

    def as_numpy(self, dtype: Any, shape: tuple[int, ...], writable: bool = False) -> Any:
        """The memory as a NumPy array that keeps this buffer alive."""
        count = int(np.prod(shape, dtype=np.int64))
        view = self._memory[: count * np.dtype(dtype).itemsize].view(dtype).reshape(shape)
        view.flags.writeable = writable
        return view


def allocate(nbytes: int) -> Buffer:
    """A buffer of ``nbytes`` bytes with arbitrary contents."""
    raw = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return Buffer(raw[start : start + nbytes], raw.ctypes.data + start, nbytes)
