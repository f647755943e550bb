"""Kernels: size-free descriptions of machine code, and the launches that use them.

A kernel is a nest of loops with a straight-line body. What depends on sizes (extents, strides,
addresses) is an argument, so one kernel serves every size. Two programs whose kernels are equal
share machine code: :meth:`Kernel.digest` sees nothing else.

Work is cut into *units*, which run in any order and on any thread. A unit is one point of the outer
axes (and one chunk, or one tile, of the last looped axis); within it the inner axes are looped over
in one or more *passes*. Lanes of vectors lie along the last inner axis (``mode="inner"``) or along
the last outer one (``mode="outer"``).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from ...dialects.dtypes import DType
from ...dialects.program import encode

Mode = Literal["inner", "outer"]
Level = Literal["full", "unit"]

ZERO, UNIT, STRIDED = "0", "1", "s"
"""Stride classes: broadcast, contiguous along the lanes, or an argument."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A buffer, or an affine function of the position, that a kernel walks.

    Attributes:
        dtype: the element type.
        level: ``full`` varies along the inner axes, ``unit`` does not.
        outer, inner: a stride class for each outer and inner axis.
        chunk: the stride class along the chunks of a split reduction's partial results.
        streaming: stores bypass the caches.
        memory: False for a position (an index leaf), whose value is offset + sum(index * stride).
    """

    dtype: DType
    level: Level
    outer: tuple[str, ...]
    inner: tuple[str, ...]
    chunk: str = ZERO
    streaming: bool = False
    memory: bool = True


@dataclass(frozen=True, slots=True)
class Item:
    """One op of the body: a primitive's name, or ``load``, ``index``, ``constant``.

    ``operands`` are item numbers; ``attributes`` hold the operand number of a load or an index, the
    bits of a constant in hexadecimal, and what the primitive's scalar body needs.
    """

    name: str
    operands: tuple[int, ...]
    dtype: DType
    level: Level
    attributes: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """A loop nest: see the module's docstring.

    Attributes:
        mode: where the lanes lie.
        lanes: elements of a vector; 1 walks the inner axis in order, for scans.
        chunked: a unit covers a chunk of the first inner axis rather than the whole of it.
        tiled: units go through the last outer axis in blocks of rows within a chunk, so that a
            transposed operand's cache lines are used whole.
        operands: what is read and written.
        items: the body.
        stores: pairs of item number and operand number.
        saved: items kept in a row of scratch memory by the pass that first computes them.
    """

    mode: Mode
    lanes: int
    chunked: bool
    tiled: bool
    operands: tuple[Operand, ...]
    items: tuple[Item, ...]
    stores: tuple[tuple[int, int], ...]
    saved: tuple[int, ...] = ()

    @property
    def outer_rank(self) -> int:
        """The number of outer axes."""
        return len(self.operands[0].outer)

    @property
    def inner_rank(self) -> int:
        """The number of inner axes."""
        return len(self.operands[0].inner)

    def canonical(self) -> bytes:
        """Bytes that are equal for equal kernels in every process."""
        operands = tuple(
            (o.dtype, o.level, o.outer, o.inner, o.chunk, o.streaming, o.memory)
            for o in self.operands
        )
        items = tuple((i.name, i.operands, i.dtype, i.level, i.attributes) for i in self.items)
        loops = (self.mode, self.lanes, self.chunked, self.tiled)
        return encode(("map", *loops, operands, items, self.stores, self.saved))

    def digest(self) -> bytes:
        """A 32-byte digest of :meth:`canonical`."""
        return hashlib.sha256(self.canonical()).digest()

    def summary(self) -> str:
        """What it computes, for people: its dtypes and the names of its items."""
        dtypes = dict.fromkeys(operand.dtype.short for operand in self.operands)
        return " ".join([*dtypes, *(item.name for item in self.items)])


@dataclass(frozen=True, slots=True)
class Contraction:
    """A batch of matrix products, block by block, through a BLAS.

    Attributes:
        dtype: float32 or float64.
        transposed: whether each operand is read transposed.
        epilogue: what finishes a block of the result while it is in the caches, if anything. Its
            outer axes are the rows of the result, its chunks are the blocks' columns.
    """

    dtype: DType
    transposed: tuple[bool, bool]
    epilogue: Kernel | None = None

    def canonical(self) -> bytes:
        """Bytes that are equal for equal kernels in every process."""
        rest = () if self.epilogue is None else (self.epilogue.digest().hex(),)
        return encode(("contraction", self.dtype, self.transposed, *rest))

    def digest(self) -> bytes:
        """A 32-byte digest of :meth:`canonical`."""
        return hashlib.sha256(self.canonical()).digest()

    def summary(self) -> str:
        """What it computes, for people."""
        rest = () if self.epilogue is None else (self.epilogue.summary(),)
        return " ".join([f"{self.dtype.short} matmul", *rest])


@dataclass(frozen=True, slots=True)
class Address:
    """An argument that is an address: a body's input or output, or scratch memory, plus bytes."""

    kind: Literal["input", "output", "scratch", "library"]
    index: int
    offset: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A kernel with its arguments: addresses, extents and strides."""

    kernel: Kernel | Contraction
    arguments: tuple[Address | int, ...]
    units: int
    grain: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a fusion becomes: launches in order, and the scratch buffers between them in bytes."""

    launches: tuple[KernelLaunch, ...]
    scratch: tuple[int, ...] = ()
