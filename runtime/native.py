"""The native part of the runtime: the thread pool and the call that runs a launch list.

``native.ll`` holds both; it is compiled like a kernel, once, and kept in the module cache. The pool
lives in memory that is never given back, since its threads look at it until the process ends. A
forked child has none of those threads: it starts over with the pool as it was at first.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import pathlib
import signal
import sys
import threading
from ctypes import c_char, c_int32, c_int64, c_uint8, c_void_p
from typing import NamedTuple

from ..errors import ArgumentError, OutOfMemoryError
from . import config
from .cpu import compile_llvm_ir, load
from .host import architecture, host_key, usable_cpus
from .image import Image
from .loader import LoadedKernel, map_pages

SOURCE = pathlib.Path(__file__).with_name("native.ll")

_SPINS = 2000
"""How often a thread looks for news before it sleeps: some tens of microseconds."""
_MAX_THREADS = 1024
_WAIT_HINTS = {"x86_64": "pause", "aarch64": "yield"}
_FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGABRT")
"""Signals of the thread that causes them; the pool's threads leave all others to Python's."""
_OBJECT_BYTES = 256
"""More than any system's mutex, condition variable or signal set."""

_FUNCTIONS = (
    "pthread_create",
    "pthread_sigmask",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
)


_STEERING = ("sched_getcpu", "pthread_setaffinity_np")
"""What keeps workers off the caller's processor; only some systems have it."""
_CPU_SET_BYTES = 128
"""Linux's ``cpu_set_t``."""


class _Pool(ctypes.Structure):
    """``%Pool`` of native.ll, and the system's objects that it points to."""

    _fields_ = (
        ("control", c_int64),
        ("control_padding", c_char * 56),
        ("next", c_int64),
        ("next_padding", c_char * 56),
        ("threads", c_int32),
        ("busy", c_int32),
        ("status", c_int32),
        ("created", c_int32),
        ("sleepers", c_int32),
        ("waiting", c_int32),
        ("spins", c_int64),
        ("kernel", c_void_p),
        ("arguments", c_void_p),
        ("units", c_int64),
        ("grain", c_int64),
        *((name, c_void_p) for name in _FUNCTIONS),
        ("mutex", c_void_p),
        ("opened", c_void_p),
        ("left", c_void_p),
        ("signals", c_void_p),
        ("block_signals", c_int64),
        ("sched_getcpu", c_void_p),
        ("pthread_setaffinity_np", c_void_p),
        ("avoided", c_int32),
        ("steering_padding", c_int32),
        ("handles", c_int64 * 16),
        ("allowed", c_uint8 * _CPU_SET_BYTES),
        ("others", c_uint8 * _CPU_SET_BYTES),
        ("objects", (c_char * _OBJECT_BYTES) * 4),
    )


class Native(NamedTuple):
    """What launch lists need.

    Attributes:
        pool: the pool's address.
        replay: the address of ``replay(list, bases)`` in native.ll.
    """

    pool: int
    replay: int


_LOCK = threading.Lock()
_pool: _Pool | None = None
_code: LoadedKernel | None = None
_requested_threads: int | None = None


def native() -> Native:
    """The pool and the code; compiled or read from the module cache by the first call."""
    global _code
    pool = _get_pool()
    if _code is None:
        code = load(Image.unpack(_cached_image()))
        with _LOCK:
            if _code is None:
                code.keep()
                _code = code
    return Native(ctypes.addressof(pool), _code.address)


def _cached_image() -> bytes:
    from .cache import default_cache
    from .toolchain import toolchain_digest

    key = hashlib.sha256(b"native" + host_key() + toolchain_digest()).digest()
    parts = default_cache().get_or_create("kernel", key, lambda: {"image": compile_native().pack()})
    return parts["image"]


def compile_native() -> Image:
    """Compiles native.ll for this machine."""
    hint = _WAIT_HINTS.get(architecture(), "")
    text = SOURCE.read_text(encoding="utf-8").replace('"pause"', f'"{hint}"')
    return compile_llvm_ir(text, "replay")


def _get_pool() -> _Pool:
    global _pool
    if _pool is None:
        with _LOCK:
            if _pool is None:
                address = map_pages(ctypes.sizeof(_Pool))
                if address is None:
                    raise OutOfMemoryError("the system gives no memory for the thread pool")
                pool = _Pool.from_address(address)
                _initialize(pool)
                os.register_at_fork(after_in_child=functools.partial(_start_over, pool))
                _pool = pool
    return _pool


def _initialize(pool: _Pool) -> None:
    libc = ctypes.CDLL(None)
    for name in _FUNCTIONS:
        setattr(pool, name, ctypes.cast(getattr(libc, name), c_void_p).value)
    base = ctypes.addressof(pool) + _Pool.objects.offset
    pool.mutex, pool.opened, pool.left, pool.signals = (base + i * _OBJECT_BYTES for i in range(4))
    pool.block_signals = int(signal.SIG_BLOCK)
    libc.sigfillset(c_void_p(pool.signals))
    for name in _FAULTS:
        if hasattr(signal, name):
            libc.sigdelset(c_void_p(pool.signals), int(getattr(signal, name)))
    _initialize_locks(pool, libc)
    if sys.platform == "linux" and all(hasattr(libc, name) for name in _STEERING):
        for name in _STEERING:
            setattr(pool, name, ctypes.cast(getattr(libc, name), c_void_p).value)
    _initialize_steering(pool)
    pool.spins = _SPINS
    pool.threads = _initial_threads()


def _initialize_locks(pool: _Pool, libc: ctypes.CDLL) -> None:
    libc.pthread_mutex_init(c_void_p(pool.mutex), None)
    libc.pthread_cond_init(c_void_p(pool.opened), None)
    libc.pthread_cond_init(c_void_p(pool.left), None)


def _initialize_steering(pool: _Pool) -> None:
    """Notes the processors that the process may use; no worker keeps off one yet."""
    pool.avoided = -1
    if pool.sched_getcpu:
        pool.allowed = type(pool.allowed)()
        for cpu in os.sched_getaffinity(0):
            if cpu < 8 * _CPU_SET_BYTES:
                pool.allowed[cpu // 8] |= 1 << cpu % 8


def _start_over(pool: _Pool) -> None:
    """Makes the pool in a forked child one without threads and jobs."""
    global _LOCK
    _LOCK = threading.Lock()
    pool.control = pool.next = 0
    pool.busy = pool.status = pool.created = pool.sleepers = pool.waiting = 0
    ctypes.memset(pool.mutex, 0, 3 * _OBJECT_BYTES)
    _initialize_locks(pool, ctypes.CDLL(None))
    _initialize_steering(pool)


def _initial_threads() -> int:
    return _requested_threads or config.NUM_THREADS.get() or usable_cpus()


def num_threads() -> int:
    """How many threads a launch may run on, with the calling one."""
    return int(_get_pool().threads)


def set_num_threads(count: int | None) -> None:
    """Sets how many threads a launch may run on; launches that start later see it.

    Args:
        count: from 1 on; None goes back to ``LAMINA_NUM_THREADS``, else to all that the process may
            use.

    Raises ArgumentError for a count below 1.
    """
    global _requested_threads
    if count is not None and not 1 <= count:
        raise ArgumentError(f"set_num_threads: the count must be at least 1, got {count}")
    _requested_threads = None if count is None else min(int(count), _MAX_THREADS)
    _get_pool().threads = _initial_threads()
