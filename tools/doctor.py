"""``lamina doctor``: what Lamina finds on this machine, and why it does not use the rest."""

from __future__ import annotations

import argparse
import ctypes
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import LaminaError
from ..frontend.devices import DeviceType
from ..runtime import blas, config, host, llvm, native, toolchain
from ..runtime.cache import CacheWarning, ModuleCache
from .cache import format_bytes

State = Literal["ok", "note", "problem"]

_STYLES: dict[State, str] = {"ok": "green", "note": "yellow", "problem": "bold red"}


class Finding(NamedTuple):
    """One line of the report."""

    section: str
    name: str
    state: State
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.description = (
        "Reports versions, devices, the module cache and the environment, and compiles and runs a "
        "small function. Exit status: 0, or 1 if something that Lamina needs does not work."
    )


def run(_arguments: argparse.Namespace) -> int:
    """Prints the report; returns the exit status."""
    console = Console(highlight=False)
    table = Table(box=None, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    section = ""
    problems = 0
    for finding in findings():
        if finding.section != section:
            if section:
                table.add_row()
            section = finding.section
            table.add_row(Text(section, style="bold"))
        problems += finding.state == "problem"
        table.add_row(
            f"  {finding.name}", Text(finding.state, _STYLES[finding.state]), Text(finding.text)
        )
    console.print(table)
    if problems:
        console.print(f"\n{problems} " + ("problem" if problems == 1 else "problems"))
    return 1 if problems else 0


def findings() -> Iterator[Finding]:
    """Every line of the report, in order."""
    for section, find in (
        ("versions", _versions),
        ("compiler", _compiler),
        ("devices", _devices),
        ("module cache", _cache),
        ("environment", _environment),
        ("self-test", _self_test),
    ):
        try:
            for name, state, text in find():
                yield Finding(section, name, state, text)
        except LaminaError as error:
            yield Finding(section, section, "problem", str(error))


Lines = Iterator[tuple[str, State, str]]


def _versions() -> Lines:
    yield "python", "ok", f"{platform.python_version()} ({sys.executable})"
    yield "system", "ok", platform.platform()
    for name, version in toolchain.versions().items():
        state: State = "problem" if version == "none" else "ok"
        yield name.replace("_", "-"), state, "not installed" if version == "none" else version


def _compiler() -> Lines:
    yield _tried("LLVM", lambda: f"{llvm.version()} ({llvm.library_path()})")
    yield _tried("MLIR", _load_mlir)
    yield _tried("target", lambda: f"{llvm.host_target().triple}, {llvm.host_target().cpu}")


def _load_mlir() -> str:
    start = time.perf_counter()
    from ..dialects import mlir

    mlir.context()
    milliseconds = (time.perf_counter() - start) * 1e3
    return f"{len(mlir.PRIMITIVES)} ops in the array dialect, loaded in {milliseconds:.0f} ms"


def _devices() -> Lines:
    yield _tried("cpu", lambda: f"{host.processor_name()}, {_threads()}")
    yield _tried("BLAS", lambda: blas.library_path())
    for name, find_driver in (("cuda", _cuda), ("vulkan", _vulkan), ("metal", _metal)):
        reason = find_driver()
        if name not in DeviceType.__members__:
            reason += f"; this version of Lamina has no {name} device"
        yield name, "note", reason


def _threads() -> str:
    count = native.num_threads()
    return "1 thread" if count == 1 else f"{count} threads"


def _cuda() -> str:
    return _driver("libcuda.so.1")


def _vulkan() -> str:
    return _driver("libvulkan.1.dylib" if sys.platform == "darwin" else "libvulkan.so.1")


def _metal() -> str:
    return "macOS has it" if sys.platform == "darwin" else "needs macOS"


def _driver(library: str) -> str:
    try:
        ctypes.CDLL(library)
    except OSError:
        return f"no driver: {library} cannot be loaded"
    return f"{library} is there"


def _cache() -> Lines:
    cache = ModuleCache(strict=True)
    if not cache.disk:
        yield "disk", "note", "switched off by LAMINA_CACHE"
        return
    yield "folder", "ok", cache.folder

    def contents() -> str:
        sizes = [entry.nbytes for entry in cache.entries()]
        total, bound = format_bytes(sum(sizes)), format_bytes(cache.max_bytes)
        return f"{len(sizes)} entries, {total} of {bound}"

    def write_and_read() -> str:
        key = b"lamina doctor"
        cache.put("doctor", key, {"data": b"written"})
        cache.clear_memory()
        if cache.get("doctor", key) != {"data": b"written"}:
            raise LaminaError("what was written could not be read")
        return "can be written and read"

    yield _tried("contents", contents)
    yield _tried("use", write_and_read)


def _environment() -> Lines:
    for knob in config.KNOBS:
        text = knob.text()
        if text is not None:
            yield _tried(knob.name, lambda knob=knob, text=text: (knob.get(), text)[1])
    for name in config.unknown_variables():
        yield name, "note", "means nothing to Lamina"


def _self_test() -> Lines:
    yield _tried("compiled function", _compile_and_run)


def _compile_and_run() -> str:
    import numpy as np

    from ..frontend.array import Array
    from ..frontend.compile import compile

    def function(x: Array) -> Array:
        return (x * 2.5 + 1).sum()

    values = np.arange(1000, dtype=np.float32)
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Without a code generator functions are interpreted, with a warning.
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("default", CacheWarning)
        result = compile(function)(Array(values)).item()
    milliseconds = (time.perf_counter() - start) * 1e3
    wanted = 2.5 * 499500 + 1000
    if result != wanted:
        raise LaminaError(f"gave {result}, wanted {wanted}")
    return f"right, first result after {milliseconds:.1f} ms"


def _tried(name: str, find: Callable[[], str]) -> tuple[str, State, str]:
    """A finding, or the problem that finding it met."""
    try:
        return name, "ok", find()
    except Exception as error:
        return name, "problem", f"{type(error).__name__}: {error}"
