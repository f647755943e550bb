"""Compiled entries of functions: found by hashing, made once, dropped when nobody can ask again.

The entries of a function without captures live as long as the function, whoever wraps it; all
others as long as a wrapper with the same containers and options.
"""

from __future__ import annotations

import itertools
import os
import threading
import types
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from ..runtime.single_flight import SingleFlight
from .canonical import Canonical

if TYPE_CHECKING:
    from ..runtime.buffer import Buffer
    from .captures import Holder
    from .donation import Donors
    from .graph import Node

Key = tuple[Any, ...]

tick = itertools.count(1).__next__
"""The time of use that the least recently used entry is found by."""

_ATTRIBUTE = "__lamina_entries__"


class Entry:
    """A compiled program and how to call it.

    Attributes:
        key: the canonical key.
        run: launches it: takes the buffers of the arguments, the captures and the hidden operands.
        hidden: the nodes of arrays reached by closure.
        finish: makes the call's result of the output buffers and the captured containers.
        donors: the inputs whose memory outputs may take over, if there are any.
        details: what :func:`lamina.explain` tells of it.
        used: when it was used last.
        bindings: the raw keys that lead to it.
    """

    __slots__ = ("bindings", "details", "donors", "finish", "hidden", "key", "run", "used")

    def __init__(
        self,
        run: Callable[[list[Buffer]], Sequence[Buffer]],
        hidden: list[Node],
        finish: Callable[[Sequence[Buffer], list[Holder] | None], Any],
        donors: Donors | None,
        details: Any,
    ) -> None:
        self.key: Key = ()
        self.run = run
        self.hidden = hidden
        self.finish = finish
        self.donors = donors
        self.details = details
        self.used = tick()
        self.bindings: list[tuple[dict[Key, Binding], Key]] = []


class Binding:
    """An entry, and how the arrays of one raw key stand in its order.

    Attributes:
        entry: the entry.
        order: for each array of the entry its number in the raw order; None if they agree.
        holder_order: the same for captured containers.
        run, hidden, finish, donors: the entry's.
    """

    __slots__ = ("donors", "entry", "finish", "hidden", "holder_order", "order", "run")

    def __init__(self, entry: Entry, canonical: Canonical) -> None:
        self.entry = entry
        self.run = entry.run
        self.hidden = entry.hidden
        self.finish = entry.finish
        self.donors = entry.donors
        self.order = _permutation(canonical.slots)
        self.holder_order = _permutation(canonical.holders)


def _permutation(order: list[int]) -> list[int] | None:
    return None if order == list(range(len(order))) else order


class Table:
    """The entries of one function under one set of options.

    Attributes:
        limit: how many entries are kept.
        active: a configuration and the raw keys under it; swapped whole, so it can be read without
            a lock.
        traces: how often the function was traced.
    """

    __slots__ = (
        "__weakref__", "_bindings", "_entries", "_flights", "_lock", "active", "limit",
        "traces",
    )  # fmt: skip

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.traces = 0
        self._entries: dict[Key, Entry] = {}
        self._bindings: dict[Hashable, dict[Key, Binding]] = {}
        self.active: tuple[Hashable, dict[Key, Binding]] = (None, {})
        self.reset_locks()
        _TABLES.add(self)

    def reset_locks(self) -> None:
        """Forgets locks and entries being made: the threads that held them are gone."""
        # Reentrant: comparing keys may run users' code, which may call compiled functions.
        self._lock = threading.RLock()
        self._flights: SingleFlight[Entry] = SingleFlight()

    def __len__(self) -> int:
        return len(self._entries)

    def __reduce__(self) -> Any:
        # Entries are not copied or pickled with the function they are kept on.
        return (type(None), ())

    def bindings(self, configuration: Hashable) -> dict[Key, Binding]:
        """The raw keys under a configuration, which becomes the active one."""
        with self._lock:
            found = self._bindings.setdefault(configuration, {})
            self.active = (configuration, found)
            return found

    def entries(self) -> list[Entry]:
        """The entries there are."""
        with self._lock:
            return list(self._entries.values())

    def get(self, key: Key) -> Entry | None:
        """The entry of a canonical key, or None."""
        with self._lock:
            return self._entries.get(key)

    def clear(self) -> None:
        """Drops every entry."""
        with self._lock:
            self._entries.clear()
            for bindings in self._bindings.values():
                bindings.clear()

    def get_or_create(self, key: Key, create: Callable[[], Entry]) -> Entry:
        """The entry of a canonical key; of threads that miss together one makes it.

        What ``create`` raises is raised here, and leaves nothing behind; a thread that waited for
        it then tries for itself.
        """
        entry = self.get(key)
        return entry or self._flights.run(key, lambda: self.get(key) or self._insert(key, create()))

    def _insert(self, key: Key, entry: Entry) -> Entry:
        entry.key = key
        with self._lock:
            self._entries[key] = entry
            while len(self._entries) > self.limit:
                self._evict(min(self._entries.values(), key=lambda one: one.used))
        return entry

    def _evict(self, entry: Entry) -> None:
        del self._entries[entry.key]
        for bindings, raw in entry.bindings:
            binding = bindings.get(raw)
            if binding is not None and binding.entry is entry:
                del bindings[raw]
        entry.bindings.clear()

    def bind(
        self, bindings: dict[Key, Binding], raw: Key, entry: Entry, canonical: Canonical
    ) -> Binding:
        """Leads a raw key to an entry, as long as the entry is kept."""
        binding = Binding(entry, canonical)
        with self._lock:
            if self._entries.get(entry.key) is entry:
                if len(entry.bindings) >= _RAW_KEYS:
                    old, forgotten = entry.bindings.pop(0)
                    old.pop(forgotten, None)
                bindings[raw] = binding
                entry.bindings.append((bindings, raw))
        return binding


_RAW_KEYS = 64
"""Raw keys that lead to one entry; beyond it the oldest is worked out anew."""

_TABLES: weakref.WeakSet[Table] = weakref.WeakSet()
_SHARED: weakref.WeakValueDictionary[tuple[Any, ...], Table] = weakref.WeakValueDictionary()
_lock = threading.RLock()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    for table in list(_TABLES):
        table.reset_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _OwnTables(dict[tuple[Any, ...], Table]):
    """The tables kept on a function; on another function, a copy of them does not count."""

    __slots__ = ("owner",)

    def __init__(self, function: types.FunctionType) -> None:
        self.owner = weakref.ref(function)

    def __reduce__(self) -> Any:
        return (type(None), ())


def table_for(
    function: Callable[..., Any], captured: tuple[Any, ...], options: tuple[Any, ...], limit: int
) -> Table:
    """The entries of a function under options, shared by all its wrappers.

    Args:
        function: the function; the caller keeps it and ``captured`` alive as long as the table.
        captured: the containers, told apart by identity.
        options: hashable options.
        limit: how many entries are kept.
    """
    options = (*options, limit)
    with _lock:
        if isinstance(function, types.FunctionType) and all(
            container is None for container in captured
        ):
            tables = function.__dict__.get(_ATTRIBUTE)
            if not isinstance(tables, _OwnTables) or tables.owner() is not function:
                tables = function.__dict__[_ATTRIBUTE] = _OwnTables(function)
            if options not in tables:
                tables[options] = Table(limit)
            return tables[options]
        identity = (*_identity(function), *map(id, captured), options)
        table = _SHARED.get(identity)
        if table is None:
            table = _SHARED[identity] = Table(limit)
        return table


def _identity(function: Callable[..., Any]) -> tuple[int, ...]:
    """Bound methods are made anew at each access; their parts are not."""
    if isinstance(function, types.MethodType):
        return (id(function.__self__), id(function.__func__))
    return (id(function),)


def without_entries(attributes: dict[str, Any]) -> dict[str, Any]:
    """A function's attributes but for its entries."""
    return {name: value for name, value in attributes.items() if name != _ATTRIBUTE}
