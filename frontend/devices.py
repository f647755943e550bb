"""Devices and streams, as arguments of functions say where they run."""

from __future__ import annotations

import enum
from typing import Any

from ..errors import ArgumentTypeError
from .graph import user_line


class DeviceType(enum.Enum):
    """A kind of device."""

    cpu = "cpu"

    def __repr__(self) -> str:
        return f"lamina.{self.name}"


cpu = DeviceType.cpu


class Device:
    """One device of a kind.

    Attributes:
        type: the kind, such as ``lamina.cpu``.
        index: which one of that kind.
    """

    __slots__ = ("index", "type")

    def __init__(self, type: DeviceType, index: int = 0) -> None:
        if not isinstance(type, DeviceType):
            raise ArgumentTypeError(f"Device: the type must be a DeviceType, got {type!r}")
        self.type = type
        self.index = index

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DeviceType):
            return self.type is other
        if isinstance(other, Device):
            return self.type is other.type and self.index == other.index
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        return f"Device({self.type.name}, {self.index})"


class Stream:
    """A queue of work on a device.

    Attributes:
        device: the device that the work runs on.
        index: which queue.
    """

    __slots__ = ("device", "index")

    def __init__(self, device: Device, index: int = 0) -> None:
        self.device = device
        self.index = index

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Stream):
            return self.device == other.device and self.index == other.index
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.device, self.index))

    def __repr__(self) -> str:
        return f"Stream({self.device}, {self.index})"


StreamLike = Stream | Device | DeviceType | None
"""What ``stream=`` takes: where an operation runs; None is the default device."""

_DEFAULT_STREAM = Stream(Device(cpu))


def default_device() -> Device:
    """The device that operations run on unless ``stream=`` says otherwise."""
    return _DEFAULT_STREAM.device


def default_stream(device: Device | DeviceType) -> Stream:
    """The stream that work on a device goes to; ArgumentTypeError for anything but a device."""
    if not isinstance(device, (Device, DeviceType)):
        raise ArgumentTypeError(f"default_stream: takes a device, got {type(device).__name__}")
    return _DEFAULT_STREAM


def check_stream(stream: Any) -> None:
    """Raises ArgumentTypeError unless the argument names a stream, a device or None."""
    if stream is not None and not isinstance(stream, (Stream, Device, DeviceType)):
        raise ArgumentTypeError(
            f"stream= takes a stream, a device or None, got {type(stream).__name__}{user_line()}"
        )


__all__ = [
    "Device",
    "DeviceType",
    "Stream",
    "StreamLike",
    "cpu",
    "default_device",
    "default_stream",
]
