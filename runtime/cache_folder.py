"""The part of the cache on disk: a folder of entry files that many processes share.

An entry is published by renaming a whole temporary file onto its name, so readers see an old entry,
a new one or none, never a mixture. Any file may vanish at any time. Reading and writing raise
OSError; sweeping does not: a failure to clean up is nobody's business but the next sweep's.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

SUFFIX = ".lam"
TEMPORARY = ".tmp-"
STALE_SECONDS = 3600.0
"""The age at which a temporary file belongs to a process that died."""
STAMP_SECONDS = 3600.0
"""A hit renews an entry's time of last use (its file's mtime) when it is older than this."""
SWEEP_SECONDS = 86400.0
"""The folder is swept at the first write after this time, however little was written."""
_GROWTH_UNIT = 4096
_ATTEMPTS = 4

_READ_FLAGS = os.O_RDONLY
_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL
for _name in ("O_CLOEXEC", "O_NOFOLLOW", "O_BINARY"):
    _READ_FLAGS |= getattr(os, _name, 0)
    _WRITE_FLAGS |= getattr(os, _name, 0)
# A FIFO with an entry's name must not block the reader.
_READ_FLAGS |= getattr(os, "O_NONBLOCK", 0)


class EntryFile(NamedTuple):
    """An entry's file: where it is, its size, and when it was last used."""

    path: str
    nbytes: int
    used: float


class CacheFolder:
    """Entry files below ``path``, at most ``max_bytes`` of them altogether."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self.path = path
        self.max_bytes = max_bytes

    def entry_path(self, name: str) -> str:
        """Where the entry of this name lies; the first two digits are its folder."""
        return f"{self.path}/{name[:2]}/{name[2:]}{SUFFIX}"

    def read(self, name: str) -> bytes | None:
        """The bytes of an entry; None if there is none that this user may trust."""
        try:
            self.check_owner()
            path = self.entry_path(name)
            descriptor = os.open(path, _READ_FLAGS)
        except FileNotFoundError:
            return None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > self.max_bytes:
                return None
            if not is_private(status):
                return None
            data = _read(descriptor, status.st_size)
        finally:
            os.close(descriptor)
        if time.time() - status.st_mtime > STAMP_SECONDS:
            with suppress(OSError):
                os.utime(path)
        return data

    def write(self, name: str, data: bytes) -> None:
        """Publishes an entry in place of an older one; one beyond the bound is not kept."""
        if len(data) > self.max_bytes:
            return
        for attempt in range(_ATTEMPTS):
            try:
                self._write(name, data)
                break
            except FileNotFoundError:
                # The folder is new, or someone removed it between two steps.
                if attempt == _ATTEMPTS - 1:
                    raise
                self._make_folders(name)
        with suppress(OSError):
            if self._note_growth(len(data)):
                self.sweep()

    def check_owner(self) -> None:
        """Raises PermissionError if others own the folder or may write to it."""
        if not is_private(os.stat(self.path)):
            raise PermissionError(
                errno.EPERM, "owned by another user, or writable by others; not used", self.path
            )

    def files(self) -> Iterator[EntryFile]:
        """Every entry file, in no order; raises OSError if the folder cannot be read."""
        try:
            with os.scandir(self.path) as listing:
                shards = [item.path for item in listing if len(item.name) == 2 and item.is_dir()]
        except FileNotFoundError:
            return
        for shard in shards:
            with suppress(FileNotFoundError), os.scandir(shard) as listing:
                for item in listing:
                    if not item.name.endswith(SUFFIX):
                        continue
                    with suppress(FileNotFoundError):
                        status = item.stat(follow_symlinks=False)
                        yield EntryFile(item.path, status.st_size, status.st_mtime)

    def prune(self, max_bytes: int) -> tuple[int, int]:
        """Removes the least recently used beyond ``max_bytes``: how many entries, and bytes."""
        files = sorted(self.files(), key=lambda file: file.used, reverse=True)
        kept = 0
        removed: list[EntryFile] = []
        for file in files:
            if kept + file.nbytes > max_bytes or removed:
                removed.append(file)
            else:
                kept += file.nbytes
        return _remove(removed)

    def clear(self) -> tuple[int, int]:
        """Removes every entry and what dead processes left: how many entries, and bytes.

        The folders stay: removing them would take the ground from under a process that writes.
        """
        removed = _remove(list(self.files()))
        self._remove_stale()
        return removed

    def sweep(self) -> None:
        """Brings the folder back below its bound, unless another process is doing so."""
        with suppress(OSError), self._sweeping() as alone:
            if alone:
                os.truncate(self._growth_path, 0)
                self._remove_stale()
                # Together with the growth that starts the next sweep this keeps the bound.
                self.prune(self.max_bytes - self.max_bytes // 8)

    @property
    def _growth_path(self) -> str:
        return f"{self.path}/.growth"

    def _make_folders(self, name: str) -> None:
        os.makedirs(self.path, 0o700, exist_ok=True)
        self.check_owner()
        with suppress(FileExistsError):
            os.mkdir(f"{self.path}/{name[:2]}", 0o700)

    def _write(self, name: str, data: bytes) -> None:
        self.check_owner()
        temporary = f"{self.path}/{TEMPORARY}{os.getpid()}-{os.urandom(8).hex()}"
        try:
            descriptor = os.open(temporary, _WRITE_FLAGS, 0o600)
            try:
                _write(descriptor, data)
            finally:
                os.close(descriptor)
            os.replace(temporary, self.entry_path(name))
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def _note_growth(self, nbytes: int) -> bool:
        """Records what was written; True if it is time to sweep.

        The length of the file ``.growth`` counts the blocks that all processes wrote since the
        last sweep, so that nobody needs to list the folder to know that it may be full.
        """
        descriptor = os.open(self._growth_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            _write(descriptor, b"." * (-(-nbytes // _GROWTH_UNIT)))
            grown = os.fstat(descriptor).st_size * _GROWTH_UNIT
        finally:
            os.close(descriptor)
        if grown > self.max_bytes // 16:
            return True
        try:
            return time.time() - os.stat(f"{self.path}/.swept").st_mtime > SWEEP_SECONDS
        except FileNotFoundError:
            return True

    @contextmanager
    def _sweeping(self) -> Iterator[bool]:
        """True inside if no other process sweeps; also notes the time of the sweep."""
        descriptor = os.open(f"{self.path}/.swept", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            alone = _lock(descriptor)
            if alone:
                os.utime(f"{self.path}/.swept")
            yield alone
        finally:
            os.close(descriptor)

    def _remove_stale(self) -> None:
        oldest = time.time() - STALE_SECONDS
        with suppress(OSError), os.scandir(self.path) as listing:
            for item in listing:
                if item.name.startswith(TEMPORARY):
                    with suppress(OSError):
                        if item.stat(follow_symlinks=False).st_mtime < oldest:
                            os.unlink(item.path)


def is_private(status: os.stat_result) -> bool:
    """True if this user owns the file and nobody else may write to it."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(descriptor: int, nbytes: int) -> bytes:
    data = os.read(descriptor, nbytes)
    if len(data) == nbytes:
        return data
    chunks = [data]
    while chunks[-1]:
        chunks.append(os.read(descriptor, nbytes))
    return b"".join(chunks)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _remove(files: list[EntryFile]) -> tuple[int, int]:
    count = nbytes = 0
    for file in files:
        with suppress(OSError):
            os.unlink(file.path)
            count += 1
            nbytes += file.nbytes
    return count, nbytes


def _lock(descriptor: int) -> bool:
    """Takes an exclusive lock without waiting, where the platform has them."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
