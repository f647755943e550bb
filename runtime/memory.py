"""The pool of CPU memory: blocks in size classes that are used again and again.

Fresh pages cost more than most kernels, so a block whose buffer died waits for the next buffer of
its class. Blocks are aligned to 64 bytes.

There is no lock. A block may come back while the garbage collector runs, inside any code of any
thread, where a lock could already be held by that very thread. Every step is instead one that the
interpreter does not interrupt: an append to or a pop from a deque, an addition to a counter.
"""

from __future__ import annotations

import ctypes
import mmap
from collections import deque
from ctypes import c_int, c_size_t, c_void_p

from ..errors import ArgumentError, OutOfMemoryError
from .host import total_memory
from .loader import map_pages, unmap_pages

ALIGNMENT = 64

_MAPPED_BYTES = 1 << 20
"""Blocks from this size on have pages of their own."""
_HUGE_PAGE = 2 << 20
_HUGE_PAGE_BYTES = 2 * _HUGE_PAGE
"""Blocks from this size on ask for huge pages."""
_LARGEST = 1 << 47
_DEFAULT_CACHE_SHARE = 4
"""The cache may by default hold one part in so many of the memory."""

_libc = ctypes.CDLL(None)
_aligned_alloc = ctypes.CFUNCTYPE(c_void_p, c_size_t, c_size_t)(("aligned_alloc", _libc))
_free = ctypes.CFUNCTYPE(None, c_void_p)(("free", _libc))
_madvise = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t, c_int)(("madvise", _libc))
_HUGE_PAGE_ADVICE: int | None = getattr(mmap, "MADV_HUGEPAGE", None)


class SizeClass:
    """The blocks of one size.

    Attributes:
        pool: the pool that they belong to.
        size: their bytes.
        free: the addresses of those that wait, the longest waiting first.
    """

    __slots__ = ("free", "pool", "size")

    def __init__(self, pool: Pool, size: int) -> None:
        self.pool = pool
        self.size = size
        self.free: deque[int] = deque()

    def take(self) -> int:
        """The address of a block with arbitrary contents; OutOfMemoryError if there is none."""
        try:
            address = self.free.pop()
        except IndexError:
            address = self.pool.create(self.size)
        pool = self.pool
        pool.active += self.size
        if pool.active > pool.peak:
            pool.peak = pool.active
        return address

    def give(self, address: int) -> None:
        """Takes a block back."""
        pool = self.pool
        pool.active -= self.size
        self.free.append(address)
        if pool.total - pool.active > pool.cache_limit:
            pool.trim()


class Pool:
    """All blocks of the process.

    Attributes:
        active: bytes of blocks in use.
        peak: the most that ``active`` has been.
        total: bytes of all blocks, in use or waiting.
        cache_limit: how many bytes may wait.
        memory_limit: how many bytes there may be in all.
    """

    __slots__ = ("active", "cache_limit", "classes", "memory_limit", "peak", "total")

    def __init__(self, memory_limit: int, cache_limit: int) -> None:
        self.active = self.peak = self.total = 0
        self.memory_limit = memory_limit
        self.cache_limit = cache_limit
        self.classes: dict[int, SizeClass] = {}

    def size_class(self, nbytes: int) -> SizeClass:
        """The class of the smallest blocks that hold ``nbytes``: eight classes an octave."""
        if nbytes <= 512:
            size = (nbytes + 63) & -64 or 64
        else:
            shift = (nbytes - 1).bit_length() - 4
            size = (((nbytes - 1) >> shift) + 1) << shift
        found = self.classes.get(size)
        return found if found is not None else self.classes.setdefault(size, SizeClass(self, size))

    def create(self, size: int) -> int:
        """The address of a new block; waiting blocks are given up if memory is short."""
        if self.total + size > self.memory_limit:
            self.clear()
        if self.total + size > self.memory_limit:
            raise self._out_of_memory(size, f"the limit of {_readable(self.memory_limit)}")
        self.total += size
        address = _new_block(size)
        if address is None:
            self.clear()
            address = _new_block(size)
        if address is None:
            self.total -= size
            raise self._out_of_memory(size, "what the system gives")
        return address

    def _out_of_memory(self, size: int, bound: str) -> OutOfMemoryError:
        return OutOfMemoryError(
            f"a buffer of {_readable(size)} on the CPU: {_readable(self.active)} are in use, and "
            f"more would exceed {bound}"
        )

    def trim(self) -> None:
        """Gives waiting blocks back to the system until no more wait than may.

        They come from the classes with the most bytes waiting; in a class, the longest waiting
        first.
        """
        while self.total - self.active > self.cache_limit:
            classes = list(self.classes.values())
            largest = max(classes, key=lambda each: len(each.free) * each.size, default=None)
            if largest is None or not self._drop(largest):
                return

    def clear(self) -> None:
        """Gives all waiting blocks back to the system."""
        for each in list(self.classes.values()):
            while self._drop(each):
                pass

    def _drop(self, each: SizeClass) -> bool:
        try:
            address = each.free.popleft()
        except IndexError:
            return False
        _delete_block(address, each.size)
        self.total -= each.size
        return True


def _readable(nbytes: int) -> str:
    return f"{nbytes} bytes" if nbytes < 1 << 20 else f"{nbytes / 2**20:,.1f} MiB"


def _new_block(size: int) -> int | None:
    """The address of fresh memory, or None."""
    if size >= _LARGEST:
        return None
    if size < _MAPPED_BYTES:
        return _aligned_alloc(ALIGNMENT, size)
    if size < _HUGE_PAGE_BYTES or _HUGE_PAGE_ADVICE is None:
        return map_pages(size)
    # Huge pages need their own alignment: map more and give the ends back.
    start = map_pages(size + _HUGE_PAGE)
    if start is None:
        return None
    address = -(-start // _HUGE_PAGE) * _HUGE_PAGE
    if address > start:
        unmap_pages(start, address - start)
    rest = start + size + _HUGE_PAGE - (address + size)
    if rest > 0:
        unmap_pages(address + size, rest)
    _madvise(address, size, _HUGE_PAGE_ADVICE)
    return address


def _delete_block(address: int, size: int) -> None:
    if size < _MAPPED_BYTES:
        _free(address)
    else:
        unmap_pages(address, size)


_MEMORY = total_memory()
pool = Pool(_MEMORY, _MEMORY // _DEFAULT_CACHE_SHARE)
"""The process's pool."""


def get_active_memory() -> int:
    """Bytes of memory that buffers use now."""
    return pool.active


def get_peak_memory() -> int:
    """The most bytes that buffers used at once, since the start or :func:`reset_peak_memory`."""
    return pool.peak


def reset_peak_memory() -> None:
    """Makes the memory in use now the peak."""
    pool.peak = pool.active


def get_cache_memory() -> int:
    """Bytes of memory that wait for the next buffers."""
    return pool.total - pool.active


def set_cache_limit(limit: int) -> int:
    """Sets how many bytes may wait for the next buffers; returns the limit until now.

    Raises ArgumentError for a negative limit.
    """
    previous, pool.cache_limit = pool.cache_limit, _checked("set_cache_limit", limit)
    pool.trim()
    return previous


def set_memory_limit(limit: int) -> int:
    """Sets how many bytes buffers may use, with those that wait; returns the limit until now.

    A buffer beyond it raises OutOfMemoryError. Raises ArgumentError for a negative limit.
    """
    previous, pool.memory_limit = pool.memory_limit, _checked("set_memory_limit", limit)
    return previous


def clear_cache() -> None:
    """Gives the memory that waits for the next buffers back to the system."""
    pool.clear()


def _checked(function: str, limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise ArgumentError(f"{function}: the limit is a number of bytes, got {limit!r}")
    return limit
