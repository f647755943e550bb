"""Code images in executable memory. Pages are written first and executed later, never both."""

from __future__ import annotations

import ctypes
import mmap
import platform
from collections.abc import Callable
from ctypes import c_int, c_long, c_size_t, c_void_p

from ..errors import CodegenError
from .image import Image

_PROTECT_READ, _PROTECT_WRITE, _PROTECT_EXECUTE = 1, 2, 4
_FAILED = c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_mmap = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_int, c_int, c_int, c_long, use_errno=True)(
    ("mmap", _libc)
)
_munmap = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t)(("munmap", _libc))
_mprotect = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t, c_int, use_errno=True)(("mprotect", _libc))


class LoadedKernel:
    """A code image in memory; unmapped with its last reference.

    Attributes:
        address: the entry point.
    """

    __slots__ = ("__weakref__", "_base", "_size", "_unmap", "address")

    def __init__(self, base: int, size: int, entry_offset: int) -> None:
        self._base = base
        self._size = size
        self._unmap = _munmap
        self.address = base + entry_offset

    def __del__(self) -> None:
        self._unmap(self._base, self._size)

    def keep(self) -> None:
        """Keeps the code mapped for good: threads run in it until the process ends."""
        self._unmap = _leave


def _leave(base: int, size: int) -> int:
    return 0


def map_pages(size: int) -> int | None:
    """The address of fresh, zeroed, writable pages; None when the system gives none."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    address = _mmap(None, size, _PROTECT_READ | _PROTECT_WRITE, flags, -1, 0)
    return None if address == _FAILED else address


def unmap_pages(address: int, size: int) -> None:
    """Gives pages back."""
    _munmap(address, size)


def load(image: Image) -> LoadedKernel:
    """Copies an image to fresh pages and makes them executable.

    Raises CodegenError when the system gives no executable memory.
    """
    size = max(len(image.code), 1)
    base = map_pages(size)
    if base is None:
        raise CodegenError(f"the system gives no memory for {size} bytes of code")
    kernel = LoadedKernel(base, size, image.entry_offset)
    ctypes.memmove(base, image.code, len(image.code))
    if _mprotect(base, size, _PROTECT_READ | _PROTECT_EXECUTE):
        number = ctypes.get_errno()
        raise CodegenError(f"the system does not let code run that is made here (errno {number})")
    _flush_instructions(base, size)
    return kernel


def _find_flush() -> tuple[Callable[[int, int], None], bool] | None:
    """The platform's call that makes written code visible to the instruction fetch."""
    for library, name in ((None, "sys_icache_invalidate"), ("libgcc_s.so.1", "__clear_cache")):
        try:
            function = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError):
            continue
        function.restype, function.argtypes = None, (c_void_p, c_size_t)
        return function, name == "__clear_cache"
    return None


_FLUSH = None if platform.machine().lower() in ("x86_64", "amd64") else _find_flush()


def _flush_instructions(base: int, size: int) -> None:
    """x86-64 needs nothing; elsewhere pages that become executable are flushed by most systems."""
    if _FLUSH is not None:
        function, takes_end = _FLUSH
        function(base, base + size if takes_end else size)
