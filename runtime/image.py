"""Images of machine code, as they are kept and loaded, and what they are made for."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import CodegenError


class Target(NamedTuple):
    """What code is generated for.

    Attributes:
        triple: the target triple; always one of an ELF system, whatever runs the code.
        cpu: the processor's name, as LLVM spells it.
        features: its features, as ``+avx2,-avx512f``.
    """

    triple: str
    cpu: str
    features: str


class Image(NamedTuple):
    """Machine code that runs at any page-aligned address.

    Attributes:
        code: instructions and constants.
        entry_offset: where the entry point is in them.
    """

    code: bytes
    entry_offset: int

    def pack(self) -> bytes:
        """The image as bytes, for :meth:`unpack`."""
        return self.entry_offset.to_bytes(8, "little") + self.code

    @classmethod
    def unpack(cls, data: bytes) -> Image:
        """The image that :meth:`pack` wrote; CodegenError for anything else."""
        entry_offset = int.from_bytes(data[:8], "little")
        if len(data) < 8 or entry_offset >= len(data) - 8:
            raise CodegenError(f"{len(data)} bytes are not a code image")
        return cls(data[8:], entry_offset)
