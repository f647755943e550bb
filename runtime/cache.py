"""The module cache: what compilations left behind, in memory and on disk.

An entry is a few named byte strings under a kind and a key. Lamina keeps two kinds, ``"program"``
(artifacts) and ``"kernel"`` (machine code); others may use kinds of their own. Keys are digests of
all that an entry depends on, so an entry is never out of date, only unused.

A folder that cannot be read or written costs a compilation and one warning, never an answer; with
``LAMINA_CACHE_STRICT=1`` it raises :class:`~lamina.errors.CacheError`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import CacheError
from . import cache_file, config
from .cache_file import Contents, DamagedEntry
from .cache_folder import CacheFolder, EntryFile
from .cache_memory import MemoryCache, Parts
from .single_flight import SingleFlight


class CacheWarning(RuntimeWarning):
    """The cache's folder could not be used; Lamina compiles anew instead."""


class Entry(NamedTuple):
    """An entry on disk, as its own directory describes it.

    Attributes:
        kind, key: what it is kept under.
        path, nbytes: its file.
        created, used: seconds since the epoch; ``used`` is exact to an hour.
        sizes: the bytes of each part.
        metadata: what was said of it when it was made.
    """

    kind: str
    key: bytes
    path: str
    nbytes: int
    created: float
    used: float
    sizes: dict[str, int]
    metadata: dict[str, Any]


@dataclass
class Statistics:
    """How often this process's look-ups were answered, and from where."""

    memory_hits: int = 0
    disk_hits: int = 0
    misses: int = 0
    writes: int = 0


class ModuleCache:
    """A cache in memory in front of a folder that processes share; threads may use it at once.

    Arguments left out come from the environment, see :mod:`lamina.runtime.config`.

    Args:
        folder: the folder on disk.
        disk: False keeps everything in memory.
        max_bytes: the bound of the folder.
        memory_bytes: the bound of the part in memory.
        strict: True raises CacheError where the folder fails.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        disk: bool | None = None,
        max_bytes: int | None = None,
        memory_bytes: int | None = None,
        strict: bool | None = None,
    ) -> None:
        path = default_folder() if folder is None else os.path.abspath(folder)
        self.disk = config.CACHE.get() if disk is None else disk
        self.strict = config.CACHE_STRICT.get() if strict is None else strict
        self.statistics = Statistics()
        self._folder = CacheFolder(path, _or(max_bytes, config.CACHE_BYTES.get))
        self._memory = MemoryCache(_or(memory_bytes, config.CACHE_MEMORY_BYTES.get))
        self._flights: SingleFlight[Parts] = SingleFlight()
        self._lock = threading.Lock()
        self._warned = False
        _caches.add(self)

    @property
    def folder(self) -> str:
        """The folder on disk."""
        return self._folder.path

    @property
    def max_bytes(self) -> int:
        """The bound of the folder."""
        return self._folder.max_bytes

    def get(self, kind: str, key: bytes) -> dict[str, bytes] | None:
        """The parts of an entry by name, or None if there is none."""
        parts = self._memory.get((kind, key))
        if parts is not None:
            self._count(memory_hits=1)
            return dict(parts)
        parts = self._load(kind, key)
        return None if parts is None else dict(parts)

    def put(
        self,
        kind: str,
        key: bytes,
        parts: Mapping[str, bytes],
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Keeps an entry, in place of an older one; ``metadata`` is what JSON can hold."""
        parts = dict(parts)
        self._memory.put((kind, key), parts)
        self._store(kind, key, parts, metadata or {})

    def get_or_create(
        self,
        kind: str,
        key: bytes,
        create: Callable[[], Mapping[str, bytes]],
        metadata: Mapping[str, Any] | None = None,
    ) -> dict[str, bytes]:
        """The parts of an entry, made by ``create`` and kept if there is none.

        Of several threads that miss the same key one creates; its error is its own, and the next
        thread tries. ``create`` may fill ``metadata``, which is read after it returns.
        """
        identity = (kind, key)
        parts = self._memory.get(identity)
        if parts is not None:
            self._count(memory_hits=1)
            return dict(parts)

        def work() -> Parts:
            # Another thread may have landed between the look into memory and this flight.
            found = self._memory.get(identity) or self._load(kind, key)
            if found is None:
                found = dict(create())
                self._memory.put(identity, found)
                self._store(kind, key, found, metadata or {})
            return found

        return dict(self._flights.run(identity, work))

    def entries(self) -> Iterator[Entry]:
        """The entries on disk, in no order; damaged ones are left out.

        Raises CacheError if the folder cannot be read.
        """
        for file in self._files():
            try:
                with open(file.path, "rb") as stream:
                    head = stream.read(cache_file.HEAD_BYTES)
                    directory_bytes, total = cache_file.read_head(head)
                    if total != file.nbytes:
                        continue
                    directory = cache_file.read_directory(stream.read(directory_bytes))
            except (OSError, DamagedEntry):
                continue
            yield Entry(
                directory.kind,
                directory.key,
                file.path,
                file.nbytes,
                directory.created,
                file.used,
                directory.sizes,
                directory.metadata,
            )

    def contents(self, entry: Entry) -> Contents:
        """All that an entry on disk holds; raises CacheError if it is gone or damaged."""
        try:
            with open(entry.path, "rb") as stream:
                return cache_file.unpack(stream.read())
        except (OSError, DamagedEntry) as error:
            raise CacheError(f"module cache: {entry.path}: {error}") from error

    def verify(self) -> tuple[int, list[tuple[str, str]]]:
        """Reads all entries on disk whole: how many there are, and ``(path, what is wrong)``.

        Raises CacheError if the folder cannot be read.
        """
        count = 0
        damaged: list[tuple[str, str]] = []
        for file in self._files():
            try:
                with open(file.path, "rb") as stream:
                    found = cache_file.unpack(stream.read())
                name = cache_file.entry_name(found.kind, found.key)
                if self._folder.entry_path(name) != file.path:
                    raise DamagedEntry("lies under another entry's name")
            except FileNotFoundError:
                continue
            except (OSError, DamagedEntry) as error:
                damaged.append((file.path, str(error)))
            count += 1
        return count, damaged

    def prune(self, max_bytes: int | None = None) -> tuple[int, int]:
        """Removes the least recently used entries on disk beyond ``max_bytes`` (else the bound).

        Returns how many entries and bytes went; raises CacheError if the folder cannot be read.
        """
        limit = self.max_bytes if max_bytes is None else max_bytes
        return self._manage(lambda: self._folder.prune(limit))

    def clear(self) -> tuple[int, int]:
        """Removes all entries, in memory and on disk, while others may be using them.

        Returns how many entries and bytes went from the disk; raises CacheError if the folder
        cannot be read.
        """
        self._memory.clear()
        return self._manage(self._folder.clear)

    def clear_memory(self) -> None:
        """Forgets what is in memory; the disk keeps it."""
        self._memory.clear()

    def _load(self, kind: str, key: bytes) -> Parts | None:
        """An entry from the disk, kept in memory from then on."""
        found = self._read(kind, key) if self.disk else None
        if found is None or found.kind != kind or found.key != key:
            self._count(misses=1)
            return None
        self._count(disk_hits=1)
        self._memory.put((kind, key), found.parts)
        return found.parts

    def _read(self, kind: str, key: bytes) -> Contents | None:
        try:
            data = self._folder.read(cache_file.entry_name(kind, key))
            return None if data is None else cache_file.unpack(data)
        except DamagedEntry:
            # What is compiled instead replaces it.
            return None
        except OSError as error:
            self._failed("read", error)
            return None

    def _store(self, kind: str, key: bytes, parts: Parts, metadata: Mapping[str, Any]) -> None:
        if not self.disk:
            return
        data = cache_file.pack(kind, key, time.time(), metadata, parts)
        try:
            self._folder.write(cache_file.entry_name(kind, key), data)
        except OSError as error:
            self._failed("write", error)
        else:
            self._count(writes=1)

    def _failed(self, doing: str, error: OSError) -> None:
        text = f"module cache: cannot {doing} {self.folder}: {error.strerror or error}"
        if self.strict:
            raise CacheError(text) from error
        with self._lock:
            first, self._warned = not self._warned, True
        if first:
            warnings.warn(f"{text}; compiling without it", CacheWarning, stacklevel=4)

    def _files(self) -> list[EntryFile]:
        return self._manage(lambda: list(self._folder.files()))

    def _manage(self, action: Callable[[], Any]) -> Any:
        try:
            if os.path.lexists(self.folder):
                self._folder.check_owner()
            return action()
        except OSError as error:
            text = f"module cache: {self.folder}: {error.strerror or error}"
            raise CacheError(text) from error

    def _count(
        self, memory_hits: int = 0, disk_hits: int = 0, misses: int = 0, writes: int = 0
    ) -> None:
        with self._lock:
            self.statistics.memory_hits += memory_hits
            self.statistics.disk_hits += disk_hits
            self.statistics.misses += misses
            self.statistics.writes += writes

    def _after_fork(self) -> None:
        # Another thread of the parent may have held any of these; it does not exist in the child.
        self._lock = threading.Lock()
        self._memory.renew_lock()
        self._flights.reset()


def default_folder() -> str:
    """``$LAMINA_CACHE_DIR``, else ``lamina`` in the platform's cache folder of this user."""
    chosen = config.CACHE_DIR.get()
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    if sys.platform == "linux":
        # What platformdirs gives there; importing it would be most of a warm process's start.
        path = os.path.join(config.xdg_cache_home(), "lamina")
    else:
        import platformdirs

        path = platformdirs.user_cache_dir("lamina", appauthor=False)
    if os.path.isabs(path):
        return path
    # Without a home folder the paths above start with "~", which is no place for a folder.
    import tempfile

    user = os.geteuid() if hasattr(os, "geteuid") else os.getpid()
    return os.path.join(tempfile.gettempdir(), f"lamina-{user}")


def default_cache() -> ModuleCache:
    """The process's cache, made at the first call from the environment at that time."""
    global _default
    if _default is None:
        with _default_lock:
            if _default is None:
                _default = ModuleCache()
    return _default


def _or(value: int | None, otherwise: Callable[[], int]) -> int:
    return otherwise() if value is None else value


_caches: weakref.WeakSet[ModuleCache] = weakref.WeakSet()
_default: ModuleCache | None = None
_default_lock = threading.Lock()


def _renew_locks() -> None:
    global _default_lock
    _default_lock = threading.Lock()
    for cache in list(_caches):
        cache._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
