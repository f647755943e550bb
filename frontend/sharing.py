"""Captured containers that threads share: one trace at a time replaces what they hold."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .graph import Trace

if TYPE_CHECKING:
    from .array import Array
    from .captures import Holder, Update


class FunctionTrace(Trace):
    """A compiled function being traced by a thread; others that need its state can wait."""

    __slots__ = ("done", "thread")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.thread = threading.get_ident()
        self.done = threading.Event()


class StateChanged(Exception):
    """Another thread changed captured containers between a call's key and its trace."""


BUSY: dict[int, FunctionTrace] = {}
"""Captured containers that hold traced arrays now, by identity, and whose trace it is."""

# Reentrant: updates may run methods of users' containers.
_lock = threading.RLock()


def claim(holders: Sequence[Holder], this: FunctionTrace) -> None:
    """Makes containers a trace's own; waits first for other threads' traces with them."""
    while True:
        with _lock:
            others = [BUSY[id(holder)] for holder in holders if id(holder) in BUSY]
            if not others:
                BUSY.update({id(holder): this for holder in holders})
                return
        for other in others:
            other.done.wait()


def release(holders: Sequence[Holder]) -> None:
    """Gives containers free."""
    for holder in holders:
        BUSY.pop(id(holder), None)


def wait_for_containers(holders: Sequence[Holder]) -> bool:
    """Waits while other threads trace with these containers; True if it had to wait."""
    waited = False
    for holder in holders:
        other = BUSY.get(id(holder))
        if other is not None and other.thread != threading.get_ident():
            other.done.wait()
            waited = True
    return waited


def apply_undisturbed(update: Update, holders: list[Holder], outputs: list[Array]) -> None:
    """Applies an update while no thread traces with its containers."""
    while True:
        with _lock:
            if not BUSY or not any(id(holder) in BUSY for holder in holders):
                update.apply(holders, outputs)
                return
        wait_for_containers(holders)


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()
    BUSY.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
