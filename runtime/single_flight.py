"""One thread works on a key while the others that want it wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class _Flight:
    """Work in progress: who does it, and its result once ``landed``."""

    __slots__ = ("done", "landed", "owner", "result")

    def __init__(self, owner: int) -> None:
        self.owner = owner
        self.done = threading.Event()
        self.landed = False
        self.result: Any = None


class SingleFlight(Generic[T]):
    """Runs work once per key between threads.

    An error belongs to the thread that met it: of the threads that waited, the next one tries. Work
    may ask for other keys, and for its own: a thread that would wait for itself, at once or through
    other threads, does the work a second time instead of waiting for ever.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets all work in progress: for a forked child, where its threads do not exist."""
        # Reentrant: hashing keys and collecting garbage may run code that asks for work again.
        self._lock = threading.RLock()
        self._flights: dict[Hashable, _Flight] = {}
        self._waits: dict[int, _Flight] = {}

    def run(self, key: Hashable, work: Callable[[], T]) -> T:
        """The result of ``work``, or that of another thread that works on the same key now."""
        thread = threading.get_ident()
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    mine = self._flights[key] = _Flight(thread)
                    break
                if self._leads_to(flight, thread):
                    mine = None
                    break
                self._waits[thread] = flight
            try:
                flight.done.wait()
            finally:
                with self._lock:
                    self._waits.pop(thread, None)
            if flight.landed:
                return flight.result
        if mine is None:
            return work()
        return self._fly(key, mine, work)

    def _fly(self, key: Hashable, flight: _Flight, work: Callable[[], T]) -> T:
        try:
            flight.result = work()
            flight.landed = True
            return flight.result
        finally:
            with self._lock:
                if self._flights.get(key) is flight:
                    del self._flights[key]
            flight.done.set()

    def _leads_to(self, flight: _Flight | None, thread: int) -> bool:
        """True if ``thread`` itself must go on before the flight can land."""
        # Each thread waits for one flight at most and no wait closes a ring, so this walk ends.
        while flight is not None and not flight.done.is_set():
            if flight.owner == thread:
                return True
            flight = self._waits.get(flight.owner)
        return False
