"""The thread pool: every unit runs once, whatever the threads, callers and forks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lamina.errors import ArgumentError
from lamina.runtime import host, native
from lamina.runtime.artifact import Artifact, Launch, Output, Pointer, Slot
from lamina.runtime.buffer import allocate
from lamina.runtime.cpu import LoadedKernel
from lamina.runtime.executable import Executable

Threads = Callable[[int], None]
Kernels = dict[str, LoadedKernel]


def counter(kernels: Kernels, units: int, grain: int) -> Executable:
    """A program that adds one to its input, in place, for each unit that runs."""
    type_ = ((max(units, 1),), "int32")
    launch = Launch("count", (Pointer(0),), units, grain)
    artifact = Artifact("test", (type_,), (Output(*type_, ("input", 0)),), (Slot("input"),),
                        (launch,), 0)  # fmt: skip
    return Executable(artifact, kernels)


def counts(executable: Executable, units: int, times: int = 1) -> np.ndarray[Any, Any]:
    buffer = allocate(4 * max(units, 1))
    values = buffer.as_numpy(np.int32, (max(units, 1),), writable=True)
    values[...] = 0
    for _ in range(times):
        executable.run([buffer])
    return values


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize(
    ("units", "grain"), [(1, 1), (2, 1), (7, 2), (1000, 1), (1001, 10), (1000, 999), (999, 1000)]
)
def test_every_unit_runs_once(
    kernels: Kernels, threads: Threads, count: int, units: int, grain: int
) -> None:
    threads(count)
    assert (counts(counter(kernels, units, grain), units, times=20) == 20).all()


def test_no_units_run_nothing(kernels: Kernels) -> None:
    assert counts(counter(kernels, 0, 1), 0)[0] == 0


def test_a_grain_of_nothing_counts_as_one(kernels: Kernels, threads: Threads) -> None:
    threads(2)
    assert (counts(counter(kernels, 9, 0), 9) == 1).all()


def test_eight_callers_at_once(kernels: Kernels, threads: Threads) -> None:
    threads(4)
    wrong: list[str] = []

    def call(units: int) -> None:
        if not (counts(counter(kernels, units, 3), units, times=200) == 200).all():
            wrong.append(f"{units} units")

    callers = [threading.Thread(target=call, args=(50 + 37 * i,)) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


def test_sleeping_workers_wake(kernels: Kernels, threads: Threads) -> None:
    threads(3)
    program = counter(kernels, 100, 1)
    for pause in (0.0, 0.001, 0.02):
        time.sleep(pause)
        assert (counts(program, 100, times=5) == 5).all()


def test_the_number_of_threads_may_change_between_calls(kernels: Kernels, threads: Threads) -> None:
    program = counter(kernels, 500, 1)
    for count in (1, 4, 2, 6, 1, 3):
        threads(count)
        assert native.num_threads() == count
        assert (counts(program, 500, times=10) == 10).all()


def test_no_threads_are_refused() -> None:
    with pytest.raises(ArgumentError, match="at least 1"):
        native.set_num_threads(0)


def test_none_goes_back_to_what_the_process_may_use(
    threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAMINA_NUM_THREADS", raising=False)
    threads(5)
    native.set_num_threads(None)
    assert native.num_threads() == host.usable_cpus()
    monkeypatch.setenv("LAMINA_NUM_THREADS", "3")
    native.set_num_threads(None)
    assert native.num_threads() == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(kernels: Kernels, threads: Threads) -> None:
    threads(3)
    program = counter(kernels, 300, 1)
    assert (counts(program, 300) == 1).all()
    child = os.fork()
    if child == 0:
        good = (counts(program, 300, times=50) == 50).all()
        os._exit(0 if good else 1)
    assert wait_for(child) == 0
    assert (counts(program, 300) == 1).all()


def wait_for(child: int) -> int:
    """The exit code of a child; it is killed if it hangs."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


SLEEPER = """
import signal, threading, time
from lamina.runtime import native
from lamina.runtime.artifact import Artifact, Launch, Slot, Pointer
from lamina.runtime.cpu import compile_llvm_ir, load
from lamina.runtime.executable import Executable

kernel = load(compile_llvm_ir("define i32 @entry(ptr %w, i64 %b, i64 %e) { ret i32 0 }", "entry"))
native.set_num_threads(4)
program = Executable(Artifact("", (), (), (), (Launch("k", (), 64, 1),), 0), {"k": kernel})
program.run([])
print("ready", flush=True)
time.sleep(20)
"""


def test_workers_leave_signals_to_python() -> None:
    """Ctrl-C wakes a sleeping main thread, and the process ends with workers asleep."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the calls that steer threads")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")
def test_workers_keep_off_the_callers_processor():
    """A worker that sleeps is told where not to wake up, and loses no other processor."""
    program = """
import os, time
import numpy as np
import lamina as lm
from lamina.runtime import native

native.set_num_threads(2)
allowed = os.sched_getaffinity(0)
before = set(os.listdir("/proc/self/task"))
x = lm.array(np.ones(1 << 22, np.float32))
double = lm.compile(lambda x: x * 2.5)
for cpu in sorted(allowed)[:2]:
    os.sched_setaffinity(0, {cpu})
    for _ in range(3):
        time.sleep(0.02)
        lm.eval(double(x))
    workers = set(os.listdir("/proc/self/task")) - before
    masks = [os.sched_getaffinity(int(thread)) for thread in workers]
    assert allowed - {cpu} in masks, (cpu, allowed, masks)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
