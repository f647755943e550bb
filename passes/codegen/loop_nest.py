"""What all loop nests of kernels share: units, strides, strips of vectors, and the items' values.

:mod:`~lamina.passes.codegen.inner_lanes` and :mod:`~lamina.passes.codegen.outer_lanes` say what a
unit of work does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import scf

from ...dialects.dtypes import DType
from ..schedule.kernel import STRIDED, UNIT, ZERO, Item, Kernel
from ..schedule.loops import argument_names, pass_depths, weight_of
from . import scalar_bodies
from .conversions import round_to
from .emitter import Emitter, Value
from .memory import Memory, Stride
from .reducers import Reducer, reducer_of

Step = Callable[[Value, Value | None, list[Value]], list[Value]]
"""Emits one vector: from its position, a mask (None for all lanes) and what the loop carries."""
LONG_BODY = 96
"""Work (see :func:`~lamina.passes.schedule.loops.weight_of`) whose code is not worth repeating."""
BLOCK_STEPS = 32
"""Vector steps of a float sum that are added up before they join the running total."""


class Point:
    """A place in the iteration space: where each operand stands, and the values known there."""

    def __init__(self, position: Callable[[int], Value], mask: Value | None) -> None:
        self.position = position
        self.mask = mask
        self.values: dict[int, Any] = {}


class LoopNest(ABC):
    """Emits the loops of one kernel.

    Attributes:
        units_are_vectors: True if what does not vary along the inner axes still has lanes.
    """

    units_are_vectors = False

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.e = Emitter()
        self.memory = Memory(self.e)
        self.depths = pass_depths(kernel.items)
        self.reducers: dict[int, Reducer] = {}
        for number in range(len(kernel.items)):
            reducer = reducer_of(self.e, kernel.items, number)
            if reducer is not None:
                self.reducers[number] = reducer
        full_stores = [self.depths[i] for i, k in kernel.stores if self._is_full(k)]
        reductions = [self.depths[n] - 1 for n in self.reducers if not self._is_scan(n)]
        self.is_long = weight_of(item.name for item in kernel.items) > LONG_BODY
        self.passes = 1 + max([0, *full_stores, *reductions])
        self.rows: dict[int, Value] = {}

    # Structure

    def function(self, arguments: list[Value]) -> None:
        """The loop over units."""
        names = argument_names(self.kernel)
        self.words = dict(zip(names, arguments[2:], strict=True))
        self.zero, self.one = self.e.index(0), self.e.index(1)
        self.outer = [self.words[f"outer{i}"] for i in range(self.kernel.outer_rank)]
        self.inner = [self.words[f"inner{i}"] for i in range(self.kernel.inner_rank)]
        self.chunks = self._ceil_divide(self.inner[0], self.words["chunk"])
        self.step = self.e.index(self.kernel.lanes)
        self._allocate()
        loop = scf.ForOp(arguments[0], arguments[1], self.one, [])
        with ir.InsertionPoint(loop.body):
            self._unit(loop.induction_variable)
            scf.YieldOp([])

    def _ceil_divide(self, a: Value, b: Value) -> Value:
        return self.e.divui(self.e.subi(self.e.addi(a, b), self.one), b)

    def _delinearize(self, position: Value, extents: Sequence[Value]) -> list[Value]:
        coordinates: list[Value] = []
        for extent in reversed(extents[1:]):
            coordinates.append(self.e.remui(position, extent))
            position = self.e.divui(position, extent)
        return [position, *reversed(coordinates)] if extents else []

    def _chunk_bounds(self, chunk_number: Value | None) -> tuple[Value, Value]:
        if chunk_number is None:
            return self.zero, self.inner[0]
        low = self.e.muli(chunk_number, self.words["chunk"])
        high = self.e.addi(low, self.words["chunk"])
        return low, self.e.minui(high, self.inner[0])

    def _stride(self, operand: int, side: str, axis: int) -> Value | None:
        """The stride of an operand along an axis; None where it is broadcast."""
        entry = self.kernel.operands[operand]
        kind = (entry.outer if side == "o" else entry.inner)[axis]
        if kind == ZERO:
            return None
        return self.one if kind == UNIT else self.words[f"stride{operand}_{side}{axis}"]

    def _advance(self, position: Value, index: Value, stride: Value | None) -> Value:
        if stride is None:
            return position
        step = index if stride is self.one else self.e.muli(index, stride)
        return self.e.addi(position, step)

    def _bases(self, coordinates: Sequence[Value], chunk_number: Value | None) -> list[Value]:
        bases: list[Value] = []
        for number, operand in enumerate(self.kernel.operands):
            base = self.zero if operand.memory else self.words[f"start{number}"]
            for axis, coordinate in enumerate(coordinates):
                base = self._advance(base, coordinate, self._stride(number, "o", axis))
            if operand.chunk == STRIDED and chunk_number is not None:
                base = self._advance(base, chunk_number, self.words[f"stride{number}_chunk"])
            bases.append(base)
        return bases

    @abstractmethod
    def _allocate(self) -> None:
        """Makes room for what units keep between passes."""

    @abstractmethod
    def _unit(self, unit: Value) -> None:
        """One unit of work."""

    def _keys(self, running: list[int]) -> dict[Any, int]:
        return {self.reducers[n].key: n for n in reversed(running)}

    def _unpack(self, keys: dict[Any, int], flat: Sequence[Value]) -> dict[Any, list[Value]]:
        unpacked: dict[Any, list[Value]] = {}
        start = 0
        for key, number in keys.items():
            width = len(self.reducers[number].elements)
            unpacked[key] = list(flat[start : start + width])
            start += width
        return unpacked

    def _finish(self, number: int, parts: list[Value]) -> Any:
        """The result of a reduction from its accumulators."""
        reducer = self.reducers[number]
        if reducer.starts_at_negative_zero:
            count = self.inner[0]
            for extent in self.inner[1:]:
                count = self.e.muli(count, extent)
            lanes, self.e.lanes = self.e.lanes, 1
            is_empty = self.e.cmpi("eq", count, self.zero)
            self.e.lanes = lanes
            element = self.e.element(parts[0])
            zero = self.e.constant(0.0, element)
            parts = [self.e.select(is_empty, zero, part) for part in parts]
        return self._rounded(reducer.result(parts), self.kernel.items[number].dtype)

    def _strip(
        self,
        low: Value,
        high: Value,
        accumulators: list[Value],
        keys: dict[Any, int],
        step: Step,
    ) -> list[Value]:
        """Whole vectors from low to high, then a masked one; a long body stands there once."""
        if self.kernel.lanes == 1:
            return self._for(low, high, self.one, accumulators, lambda i, c: step(i, None, c))
        blocked = any(self.reducers[n].starts_at_negative_zero for n in keys.values())
        if self.is_long:
            step = self._masking(high, step)
            if blocked:
                return self._blocks(low, high, accumulators, keys, step)
            return self._for(low, high, self.step, accumulators, lambda i, c: step(i, None, c))
        length = self.e.subi(high, low)
        rest = self.e.remui(length, self.step)
        whole = self.e.subi(high, rest)
        if blocked:
            carried = self._blocks(low, whole, accumulators, keys, step)
        else:
            carried = self._for(low, whole, self.step, accumulators, lambda i, c: step(i, None, c))
        has_rest = self.e.cmpi("ne", rest, self.zero)
        branch = scf.IfOp(has_rest, [a.type for a in carried], has_else=bool(carried))
        with ir.InsertionPoint(branch.then_block):
            mask = self.e.op("vector.create_mask", [rest], self.e.type("i1", self.kernel.lanes))
            scf.YieldOp(step(whole, mask, carried))
        if carried:
            otherwise = branch.else_block
            assert otherwise is not None
            with ir.InsertionPoint(otherwise):
                scf.YieldOp(carried)
        return list(branch.results)

    def _masking(self, high: Value, step: Step) -> Step:
        """The step with a mask for every vector: half the code, and little beside long bodies."""

        def masked(index: Value, _: Value | None, carried: list[Value]) -> list[Value]:
            rest = self.e.subi(high, index)
            mask = self.e.op("vector.create_mask", [rest], self.e.type("i1", self.kernel.lanes))
            return step(index, mask, carried)

        return masked

    def _blocks(
        self,
        low: Value,
        high: Value,
        totals: list[Value],
        keys: dict[Any, int],
        step: Step,
    ) -> list[Value]:
        """Float sums in blocks, so that the error grows with the logarithm of the length."""
        width = self.e.index(self.kernel.lanes * BLOCK_STEPS)
        fresh = [part for n in keys.values() for part in self.reducers[n].identity()]

        def block(start: Value, carried: list[Value]) -> list[Value]:
            end = self.e.minui(self.e.addi(start, width), high)
            inner = self._for(start, end, self.step, fresh, lambda i, c: step(i, None, c))
            old, new = self._unpack(keys, carried), self._unpack(keys, inner)
            return [
                part
                for key, n in keys.items()
                for part in self.reducers[n].combine(old[key], new[key])
            ]

        return self._for(low, high, width, totals, block)

    def _for(
        self,
        low: Value,
        high: Value,
        step: Value,
        carried: list[Value],
        body: Callable[[Value, list[Value]], list[Value]],
    ) -> list[Value]:
        loop = scf.ForOp(low, high, step, carried)
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(body(loop.induction_variable, list(loop.inner_iter_args)))
        return list(loop.results)

    # Items

    def _is_full(self, operand: int) -> bool:
        return self.kernel.operands[operand].level == "full"

    def _is_scan(self, number: int) -> bool:
        return self.kernel.items[number].level == "full"

    def _runs_in(self, reducer: int, number: int) -> bool:
        depth = self.depths[reducer] - (not self._is_scan(reducer))
        return depth == number

    def _needed(self, number: int) -> list[int]:
        """The items that a pass computes or reads, in order."""
        roots = [i for i, k in self.kernel.stores if self._is_full(k) and self.depths[i] == number]
        for n in self.reducers:
            if self._runs_in(n, number):
                roots.extend([n] if self._is_scan(n) else self.kernel.items[n].operands)
        return self._closure(roots, number)

    def _closure(self, roots: list[int], number: int | None) -> list[int]:
        """Roots and what they need; results of earlier passes are not looked into."""
        alive: set[int] = set()
        stack = list(roots)
        while stack:
            n = stack.pop()
            if n in alive:
                continue
            alive.add(n)
            item = self.kernel.items[n]
            is_kept = n in self.rows and number is not None and self.depths[n] < number
            is_reduced = n in self.reducers and not self._is_scan(n)
            is_scalar = item.level == "unit" and not self.units_are_vectors
            if not (is_kept or is_reduced or is_scalar):
                stack.extend(item.operands)
        return sorted(alive)

    def _operands(self, point: Point, number: int) -> list[Any]:
        return [point.values[operand] for operand in self.kernel.items[number].operands]

    def _register(self, number: int) -> str:
        return scalar_bodies.register_dtype(self.kernel.items[number].dtype)

    def _compute(
        self, point: Point, number: int, accumulators: Any = None, index: Value | None = None
    ) -> None:
        item = self.kernel.items[number]
        if number in self.reducers:
            point.values[number] = self._reduced(point, number, accumulators, index)
        elif item.name == "constant":
            point.values[number] = self._constant(item)
        elif item.name == "load":
            point.values[number] = self._load(point, item.attributes[0])
        elif item.name == "index":
            point.values[number] = self._position(point, item)
        else:
            source = self._source_dtype(item)
            operands = self._operands(point, number)
            value = scalar_bodies.evaluate(self.e, item.name, source, item.dtype, operands)
            point.values[number] = self._rounded(value, item.dtype)

    def _reduced(self, point: Point, number: int, accumulators: Any, index: Value | None) -> Any:
        """The running value of a scan, or a finished reduction in a tile."""
        reducer = self.reducers[number]
        if not self._is_scan(number):
            return self._finish(number, self._kept(number, index))
        old = accumulators[reducer.key]
        new = reducer.combine(old, reducer.parts(self._operands(point, number)))
        accumulators[reducer.key] = new
        item = self.kernel.items[number]
        value = reducer.result(new if item.attributes[1] else self._exclusive(number, old))
        return self._rounded(value, item.dtype)

    @abstractmethod
    def _kept(self, number: int, index: Value | None) -> list[Value]:
        """The accumulators of a reduction that an earlier pass finished."""

    def _exclusive(self, number: int, old: list[Value]) -> list[Value]:
        if not self.reducers[number].starts_at_negative_zero:
            return old
        return [self.e.addf(part, self.e.constant(0.0, self.e.element(part))) for part in old]

    def _source_dtype(self, item: Item) -> DType:
        first = item.operands[1] if item.name == "select" else item.operands[0]
        return self.kernel.items[first].dtype

    def _rounded(self, value: Any, dtype: DType) -> Any:
        if dtype.kind == "floating" and dtype.size == 2:
            return round_to(self.e, value, dtype)
        return value

    def _constant(self, item: Item) -> Any:
        (value,) = np.frombuffer(bytes.fromhex(item.attributes[0]), item.dtype.numpy)
        if item.dtype.kind == "complex":
            return self.e.constant(value.real, "f32"), self.e.constant(value.imag, "f32")
        return self.e.constant(value, scalar_bodies.register_dtype(item.dtype))

    @abstractmethod
    def _lane_stride(self, operand: int) -> Value | None:
        """The stride of an operand from one lane to the next; None where it is broadcast."""

    def _memory_stride(self, operand: int) -> Stride:
        stride = self._lane_stride(operand) if self.e.lanes > 1 else None
        return "unit" if stride is self.one else stride

    def _load(self, point: Point, operand: int) -> Any:
        return self.memory.load(
            self.kernel.operands[operand].dtype,
            self.words[f"buffer{operand}"],
            point.position(operand),
            self._memory_stride(operand),
            point.mask,
        )

    def _position(self, point: Point, item: Item) -> Any:
        operand = item.attributes[0]
        position = self.e.splat(point.position(operand))
        stride = self._lane_stride(operand) if self.e.lanes > 1 else None
        if stride is not None:
            lane = self.e.lane_numbers()
            if stride is not self.one:
                lane = self.e.muli(lane, self.e.splat(stride))
            position = self.e.addi(position, lane)
        if item.dtype.is_integer:
            return self.e.index_cast(position, scalar_bodies.register_dtype(item.dtype))
        wide = self.e.index_cast(position, "i64")
        element = scalar_bodies.register_dtype(item.dtype)
        return self._rounded(self.e.sitofp(wide, element), item.dtype)

    def _store_pass(self, point: Point, number: int) -> None:
        for item, operand in self.kernel.stores:
            if self._is_full(operand) and self.depths[item] == number:
                self._store(point, item, operand)

    def _store(self, point: Point, item: int, operand: int) -> None:
        entry = self.kernel.operands[operand]
        self.memory.store(
            entry.dtype,
            self.e.splat(point.values[item]),
            self.words[f"buffer{operand}"],
            point.position(operand),
            self._memory_stride(operand),
            point.mask,
            entry.streaming,
        )
