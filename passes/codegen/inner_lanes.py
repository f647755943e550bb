"""Loop nests whose lanes lie along the last inner axis: maps, rows and full reductions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mlir import ir
from mlir.dialects import scf

from ..schedule.kernel import ZERO
from ..schedule.loops import TILE_ROWS
from . import scalar_bodies
from .emitter import Value
from .loop_nest import LoopNest, Point


class InnerLanes(LoopNest):
    """A unit walks its inner axes in passes; a pass reduces vectors, then across their lanes."""

    def _allocate(self) -> None:
        for number in self.kernel.saved:
            element = scalar_bodies.register_dtype(self.kernel.items[number].dtype)
            size = self.e.addi(self.inner[0], self.step)
            self.rows[number] = self.memory.allocate(element, size)

    def _lane_stride(self, operand: int) -> Value | None:
        return self._stride(operand, "i", self.kernel.inner_rank - 1)

    def _kept(self, number: int, index: Value | None) -> list[Value]:
        raise AssertionError("finished reductions are scalars here")

    def _unit(self, unit: Value) -> None:
        if self.kernel.tiled:
            self._tiled_unit(unit)
            return
        chunk_number = None
        if self.kernel.chunked:
            chunk_number = self.e.remui(unit, self.chunks)
            unit = self.e.divui(unit, self.chunks)
        self._row(self._delinearize(unit, self.outer), chunk_number)

    def _tiled_unit(self, unit: Value) -> None:
        """A tile: a vector of columns at a time, down a block of rows."""
        rows = self.e.index(TILE_ROWS)
        chunk_number = self.e.remui(unit, self.chunks)
        rest = self.e.divui(unit, self.chunks)
        blocks = self._ceil_divide(self.outer[-1], rows)
        first = self.e.muli(self.e.remui(rest, blocks), rows)
        last = self.e.minui(self.e.addi(first, rows), self.outer[-1])
        others = self._delinearize(self.e.divui(rest, blocks), self.outer[:-1])
        bases = self._bases(others, chunk_number)
        low, high = self._chunk_bounds(chunk_number)
        outer, inner = self.kernel.outer_rank - 1, self.kernel.inner_rank - 1

        def position(row: Value, column: Value, k: int) -> Value:
            base = self._advance(bases[k], row, self._stride(k, "o", outer))
            return self._advance(base, column, self._stride(k, "i", inner))

        def down(column: Value, mask: Value | None, _: list[Value]) -> list[Value]:
            def step(row: Value, _: list[Value]) -> list[Value]:
                point = Point(partial(position, row, column), mask)
                return self._step(0, point, column, [], {})

            return self._for(first, last, self.one, [], step)

        self.e.lanes = self.kernel.lanes
        self._strip(low, high, [], {}, down)

    def _row(self, coordinates: Sequence[Value], chunk_number: Value | None) -> None:
        bases = self._bases(coordinates, chunk_number)
        bounds = self._chunk_bounds(chunk_number)
        unit_point = Point(lambda k: bases[k], None)
        self._scalars(unit_point, 0)
        for number in range(self.passes):
            self._pass(number, bases, bounds, unit_point)
            self._scalars(unit_point, number + 1)
        for item, operand in self.kernel.stores:
            if not self._is_full(operand):
                self._store(unit_point, item, operand)

    def _scalars(self, point: Point, depth: int) -> None:
        """Computes the unit-level items that are ready after ``depth`` passes."""
        self.e.lanes = 1
        for number, item in enumerate(self.kernel.items):
            ready = number not in self.reducers and self.depths[number] <= depth
            if item.level == "unit" and ready and number not in point.values:
                self._compute(point, number)

    def _pass(
        self, number: int, bases: list[Value], bounds: tuple[Value, Value], unit: Point
    ) -> None:
        running = [n for n in self.reducers if self._runs_in(n, number)]
        keys = self._keys(running)
        self.e.lanes = self.kernel.lanes
        accumulators = [part for n in keys.values() for part in self.reducers[n].identity()]
        shared = {
            n: self.e.splat(unit.values[n])
            for n in self._needed(number)
            if self.kernel.items[n].level == "unit"
        }
        results = self._loops(number, 0, bases, bounds, accumulators, keys, shared)
        reduced = self._unpack(keys, results)
        for n in running:
            if not self._is_scan(n):
                reducer = self.reducers[n]
                self.e.lanes = self.kernel.lanes
                parts = reducer.across_lanes(reduced[reducer.key])
                self.e.lanes = 1
                unit.values[n] = self._finish(n, parts)

    def _loops(
        self,
        number: int,
        axis: int,
        bases: list[Value],
        bounds: tuple[Value, Value],
        accumulators: list[Value],
        keys: dict[Any, int],
        shared: dict[int, Any],
    ) -> list[Value]:
        low, high = bounds
        if axis == self.kernel.inner_rank - 1:
            return self._vectors(number, bases, low, high, accumulators, keys, shared)
        loop = scf.ForOp(low, high, self.one, accumulators)
        with ir.InsertionPoint(loop.body):
            moved = [
                self._advance(base, loop.induction_variable, self._stride(k, "i", axis))
                for k, base in enumerate(bases)
            ]
            inner_bounds = (self.zero, self.inner[axis + 1])
            carried = list(loop.inner_iter_args)
            scf.YieldOp(self._loops(number, axis + 1, moved, inner_bounds, carried, keys, shared))
        return list(loop.results)

    def _vectors(
        self,
        number: int,
        bases: list[Value],
        low: Value,
        high: Value,
        accumulators: list[Value],
        keys: dict[Any, int],
        shared: dict[int, Any],
    ) -> list[Value]:
        axis = self.kernel.inner_rank - 1
        self.e.lanes = self.kernel.lanes
        shared = dict(shared)
        for n in self._needed(number):
            item = self.kernel.items[n]
            if item.name == "load" and n not in shared and n not in self.rows:
                operand: int = item.attributes[0]
                if self.kernel.operands[operand].inner[axis] == ZERO:
                    shared[n] = self.memory.load(
                        self.kernel.operands[operand].dtype,
                        self.words[f"buffer{operand}"], bases[operand], None, None,
                    )  # fmt: skip

        def step(index: Value, mask: Value | None, carried: list[Value]) -> list[Value]:
            point = Point(
                lambda k: self._advance(bases[k], index, self._stride(k, "i", axis)), mask
            )
            point.values.update(shared)
            return self._step(number, point, index, carried, keys)

        return self._strip(low, high, accumulators, keys, step)

    def _step(
        self, number: int, point: Point, index: Value, carried: list[Value], keys: dict[Any, int]
    ) -> list[Value]:
        """One vector of one pass: values, running reductions, stores."""
        accumulators = self._unpack(keys, carried)
        for n in self._needed(number):
            if n in self.rows and self.depths[n] < number:
                point.values[n] = self.memory.load_row(self.rows[n], index, self._register(n))
            elif n not in point.values:
                self._compute(point, n, accumulators)
                if n in self.rows:
                    self.memory.store_row(point.values[n], self.rows[n], index)
        for n in keys.values():
            if not self._is_scan(n):
                reducer = self.reducers[n]
                parts = reducer.masked(self._operands(point, n), point.mask)
                accumulators[reducer.key] = reducer.combine(accumulators[reducer.key], parts)
        self._store_pass(point, number)
        return [part for key in keys for part in accumulators[key]]
