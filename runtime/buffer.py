"""Buffers: dense blocks of memory, and what holds them.

A buffer lives as long as somebody refers to it: an array, an export, a launch. Then its block goes
back to the pool.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .memory import ALIGNMENT, SizeClass, pool


class Buffer:
    """A dense block of memory, aligned to 64 bytes.

    Attributes:
        address: where it is; there is no such attribute once the memory has been given away.
        nbytes: its size.
    """

    __slots__ = ("__weakref__", "_block", "_mark", "_owner", "address", "nbytes")

    address: int

    def __init__(self, address: int, nbytes: int, block: SizeClass | None) -> None:
        self.address = address
        self.nbytes = nbytes
        self._block = block

    def __del__(self) -> None:
        block = self._block
        if block is not None:
            block.give(self.address)

    def __repr__(self) -> str:
        where = f"{self.address:#x}" if hasattr(self, "address") else "donated"
        return f"<Buffer of {self.nbytes} bytes, {where}>"

    def as_numpy(self, dtype: Any, shape: tuple[int, ...], writable: bool = False) -> Any:
        """The memory as a NumPy array of this dtype and shape, which keeps the buffer alive.

        While the array or a view of it lives, the memory is not donated.

        Raises ArgumentError if the memory has been given away.
        """
        dtype = np.dtype(dtype)
        export = _Export(self, dtype, shape, not writable)
        array = np.asarray(export)
        # The interface has no name for dtypes that NumPy does not know.
        return array if array.dtype == dtype else array.view(dtype)

    @property
    def is_exported(self) -> bool:
        """Whether an array made by :meth:`as_numpy` still lives."""
        try:
            return _mark_references(self) > _UNSHARED
        except AttributeError:
            return False

    @property
    def is_donatable(self) -> bool:
        """Whether the memory may become another buffer's: it is the pool's, and not exported."""
        return self._block is not None and not self.is_exported

    @property
    def capacity(self) -> int:
        """The bytes of the block."""
        return self.nbytes if self._block is None else self._block.size

    def donate(self, nbytes: int) -> Buffer:
        """Gives the memory to a new buffer, which is returned; this one has none from then on."""
        taken = Buffer(self.address, nbytes, self._block)
        self._block = None
        del self.address
        return taken


class _Export:
    """The base of an exported array: it holds the buffer and the mark that says so."""

    __slots__ = ("__array_interface__", "_buffer", "_mark")

    def __init__(
        self, buffer: Buffer, dtype: np.dtype[Any], shape: tuple[int, ...], read_only: bool
    ) -> None:
        self._buffer = buffer
        self._mark = _export_mark(buffer)
        try:
            address = buffer.address
        except AttributeError:
            raise ArgumentError(
                "the array's memory was donated to a compiled function and is gone"
            ) from None
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (address, read_only),
        }


_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


def _export_mark(buffer: Buffer) -> object:
    """The object that a buffer's exports hold: its reference count says if there are any."""
    fresh = object()
    with _lock:
        try:
            return buffer._mark
        except AttributeError:
            buffer._mark = fresh
            return fresh


def _mark_references(buffer: Buffer) -> int:
    return sys.getrefcount(buffer._mark)


def allocate(nbytes: int) -> Buffer:
    """A buffer of ``nbytes`` bytes with arbitrary contents.

    Raises OutOfMemoryError when the device has no room for it.
    """
    block = pool.size_class(nbytes)
    return Buffer(block.take(), nbytes, block)


def copy_of(values: np.ndarray[Any, Any]) -> Buffer:
    """A buffer with a dense copy of an array's data; raises what :func:`allocate` raises."""
    buffer = allocate(values.nbytes)
    buffer.as_numpy(values.dtype, values.shape, writable=True)[...] = values
    return buffer


def from_memory(owner: object, address: int, nbytes: int) -> Buffer:
    """A buffer on memory that is not the pool's; ``owner`` keeps it alive.

    The memory must not change while the buffer lives. It is never donated.

    Raises ArgumentError for memory that is not aligned to 64 bytes.
    """
    if address % ALIGNMENT:
        raise ArgumentError(f"memory at {address:#x} is not aligned to {ALIGNMENT} bytes")
    buffer = Buffer(address, nbytes, None)
    buffer._owner = owner
    return buffer


def _calibrate() -> int:
    """How many references Python counts on the mark of a buffer without exports."""
    probe = Buffer(0, 0, None)
    _export_mark(probe)
    return _mark_references(probe)


_UNSHARED = _calibrate()
