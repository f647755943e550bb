"""What the machine is: its processor, and how much of it and of its memory this process may use."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import os
import platform
import sys

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
_PROCESSOR_FIELDS = (
    *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision"),
    "Features",
)
"""The lines of ``/proc/cpuinfo`` that say which processor it is and do not change."""
_SYSCTL_NAMES = ("machdep.cpu.brand_string", "hw.cpufamily", "hw.cpusubfamily")
_CONTROL_GROUPS_FILE = "/proc/self/cgroup"
_CPUINFO_BYTES = 16384
"""Enough for one processor: the whole file takes milliseconds on large machines."""


def architecture() -> str:
    """The processor's architecture, as target triples spell it."""
    name = platform.machine().lower()
    return _ARCHITECTURES.get(name, name)


@functools.cache
def processor() -> dict[str, str]:
    """What the system says of its first processor, by the system's own names."""
    if sys.platform == "darwin":
        return {name: _sysctl(name) for name in _SYSCTL_NAMES}
    try:
        with open("/proc/cpuinfo", "rb") as stream:
            text = stream.read(_CPUINFO_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    first = text.split("\n\n", 1)[0]
    fields = (line.partition(":") for line in first.splitlines())
    return {
        name.strip(): value.strip()
        for name, _, value in fields
        if name.strip() in _PROCESSOR_FIELDS
    }


def _sysctl(name: str) -> str:
    library = ctypes.CDLL(None)
    size = ctypes.c_size_t(256)
    buffer = ctypes.create_string_buffer(size.value)
    if library.sysctlbyname(name.encode(), buffer, ctypes.byref(size), None, ctypes.c_size_t(0)):
        return ""
    value = buffer.raw[: size.value]
    is_number = size.value in (4, 8) and not name.endswith("string")
    return str(int.from_bytes(value, "little")) if is_number else value.rstrip(b"\0").decode()


@functools.cache
def host_key() -> bytes:
    """32 bytes that name the architecture and the processor, for the keys of machine code.

    With the version of LLVM they fix the features that code is generated for; reading them does not
    need LLVM.
    """
    fields = [architecture(), sys.platform, *(f"{k}={v}" for k, v in sorted(processor().items()))]
    return hashlib.sha256("\n".join(fields).encode()).digest()


def processor_name() -> str:
    """The processor's name for people."""
    fields = processor()
    for name in ("model name", "machdep.cpu.brand_string"):
        if fields.get(name):
            return fields[name]
    return platform.processor() or architecture()


def usable_cpus() -> int:
    """How many processors this process may keep busy: affinity and the control group's quota."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = _cpu_quota()
    return count if quota is None else max(1, min(count, math.ceil(quota)))


def total_memory() -> int:
    """Bytes of memory this process may use: the machine's, or its control group's limit."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    names = {2: ("memory.max",), 1: ("memory.limit_in_bytes",)}
    for version, folder in _control_groups("memory"):
        for name in names[version]:
            limit = _read_numbers(os.path.join(folder, name))
            if limit:
                total = min(total, int(limit[0]))
    return total


def _cpu_quota() -> float | None:
    """Processors' worth of time that the control groups grant; None without a limit."""
    quotas = []
    for version, folder in _control_groups("cpu"):
        if version == 2:
            numbers = _read_numbers(os.path.join(folder, "cpu.max"))
        else:
            numbers = [
                *_read_numbers(os.path.join(folder, "cpu.cfs_quota_us")),
                *_read_numbers(os.path.join(folder, "cpu.cfs_period_us")),
            ]
        if len(numbers) == 2 and numbers[0] > 0 and numbers[1] > 0:
            quotas.append(numbers[0] / numbers[1])
    return min(quotas, default=None)


def _control_groups(controller: str) -> list[tuple[int, str]]:
    """The version and folder of each control group that this process is in, inmost first.

    In a container the path in ``/proc/self/cgroup`` may be the host's, while the container's own
    group is mounted at the root; a group's parents limit it too. So every prefix is tried.
    """
    try:
        with open(_CONTROL_GROUPS_FILE, "rb") as stream:
            lines = os.fsdecode(stream.read()).splitlines()
    except OSError:
        return []
    groups = []
    for line in lines:
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            version, root = 2, "/sys/fs/cgroup"
        elif controller in controllers.split(","):
            version, root = 1, f"/sys/fs/cgroup/{controller}"
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            groups.append((version, os.path.join(root, *parts[:depth])))
    return groups


def _read_numbers(path: str) -> list[float]:
    """The numbers in a control group's file; empty for a missing file and for ``max``."""
    try:
        with open(path, "rb") as stream:
            return [float(word) for word in stream.read().split()]
    except (OSError, ValueError):
        return []
