"""Devices: where arrays live and programs run."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ArgumentError, LaminaError
from . import blas, host, llvm, native

_TYPES = ("cpu",)


@dataclass(frozen=True, slots=True)
class Device:
    """One device.

    Attributes:
        type: the kind of device, such as ``"cpu"``.
        index: which one of that kind.
    """

    type: str
    index: int = 0

    def __str__(self) -> str:
        return f"{self.type}:{self.index}"


cpu = Device("cpu")
"""The processor that Python runs on."""

_default = cpu


def device(name: str) -> Device:
    """The device called ``cpu`` or ``cpu:0``; ArgumentError for one that is not here."""
    type_, _, index = name.partition(":")
    if type_ not in _TYPES or index not in ("", "0"):
        raise ArgumentError(f"there is no device {name!r} here; there is: {', '.join(_TYPES)}")
    return cpu


def default_device() -> Device:
    """The device that is meant when none is named."""
    return _default


def set_default_device(new: Device) -> None:
    """Makes a device the one that is meant when none is named.

    Raises ArgumentError for a device that is not here.
    """
    global _default
    _default = device(str(new))


def describe() -> dict[str, str]:
    """What the CPU device found on this machine, and what it misses, for people to read."""
    return {
        "processor": host.processor_name(),
        "architecture": host.architecture(),
        "vectors": f"{host.vector_bits()} bits",
        "usable processors": str(host.usable_cpus()),
        "threads": str(native.num_threads()),
        "memory": f"{host.total_memory() / 2**30:.1f} GiB",
        "LLVM": _describe_llvm(),
        "BLAS": _describe_blas(),
    }


def _describe_llvm() -> str:
    try:
        target = llvm.host_target()
        return f"{llvm.version()} for {target.cpu}, {llvm.library_path()}"
    except LaminaError as error:
        return f"none: {error}"


def _describe_blas() -> str:
    try:
        blas.library_function("cblas_sgemm")
        return blas.library_path()
    except LaminaError as error:
        return f"none: {error}"
