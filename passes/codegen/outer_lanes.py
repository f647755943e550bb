"""Loop nests whose lanes lie along the last outer axis: reductions and scans of columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mlir import ir
from mlir.dialects import scf

from ..schedule.kernel import Kernel
from ..schedule.loops import COLUMN_TILE
from .emitter import Value
from .loop_nest import LoopNest, Point

ROWS_AT_ONCE, LIGHT_ITEMS = 8, 6
"""Rows that a column reduction of few ops adds up before it stores its accumulators."""


class OuterLanes(LoopNest):
    """A unit is a tile of columns; accumulators of all its columns stay in the nearest cache."""

    units_are_vectors = True

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.tiles: dict[Any, list[Value]] = {}

    def _allocate(self) -> None:
        for reducer in self.reducers.values():
            if reducer.key not in self.tiles:
                size = self.e.index(COLUMN_TILE + self.kernel.lanes)
                self.tiles[reducer.key] = [
                    self.memory.allocate(element, size) for element in reducer.elements
                ]

    def _lane_stride(self, operand: int) -> Value | None:
        return self._stride(operand, "o", self.kernel.outer_rank - 1)

    def _kept(self, number: int, index: Value | None) -> list[Value]:
        assert index is not None
        return self._load_tile(self.reducers[number].key, number, index)

    def _load_tile(self, key: Any, number: int, index: Value) -> list[Value]:
        elements = self.reducers[number].elements
        return [
            self.memory.load_row(tile, index, element)
            for tile, element in zip(self.tiles[key], elements, strict=True)
        ]

    def _unit(self, unit: Value) -> None:
        tile_size = self.e.index(COLUMN_TILE)
        tiles = self._ceil_divide(self.outer[-1], tile_size)
        chunk_number = None
        if self.kernel.chunked:
            per_chunk = tiles
            for extent in self.outer[:-1]:
                per_chunk = self.e.muli(per_chunk, extent)
            chunk_number = self.e.divui(unit, per_chunk)
            unit = self.e.remui(unit, per_chunk)
        tile = self.e.remui(unit, tiles)
        rest = self.e.divui(unit, tiles)
        first = self.e.muli(tile, tile_size)
        last = self.e.minui(self.e.addi(first, tile_size), self.outer[-1])
        bases = self._bases(self._delinearize(rest, self.outer[:-1]), chunk_number)
        bounds = self._chunk_bounds(chunk_number)
        for number in range(self.passes):
            self._pass(number, bases, bounds, (first, last))
        if any(not self._is_full(k) for _, k in self.kernel.stores):
            self._columns([bases], (first, last), self._store_units)

    def _pass(
        self,
        number: int,
        bases: list[Value],
        bounds: tuple[Value, Value],
        columns: tuple[Value, Value],
    ) -> None:
        running = [n for n in self.reducers if self._runs_in(n, number)]
        keys = self._keys(running)
        self.e.lanes = self.kernel.lanes

        def clear(_: list[Point], index: Value) -> None:
            for key, n in keys.items():
                for tile, part in zip(self.tiles[key], self.reducers[n].identity(), strict=True):
                    self.memory.store_row(part, tile, index)

        if keys:
            self._columns([bases], columns, clear)

        def at(axis: int, moved: list[Value], index: Value) -> list[Value]:
            return [
                self._advance(base, index, self._stride(k, "i", axis))
                for k, base in enumerate(moved)
            ]

        def nest(axis: int, moved: list[Value], low: Value, high: Value) -> None:
            if axis == self.kernel.inner_rank - 1:
                self._rows(number, lambda row: at(axis, moved, row), (low, high), columns, keys)
                return
            loop = scf.ForOp(low, high, self.one, [])
            with ir.InsertionPoint(loop.body):
                here = at(axis, moved, loop.induction_variable)
                nest(axis + 1, here, self.zero, self.inner[axis + 1])
                scf.YieldOp([])

        nest(0, bases, *bounds)

    def _rows(
        self,
        number: int,
        bases_at: Callable[[Value], list[Value]],
        bounds: tuple[Value, Value],
        columns: tuple[Value, Value],
        keys: dict[Any, int],
    ) -> None:
        """Every row of a tile; light reductions take several rows at a time."""
        low, high = bounds
        count = ROWS_AT_ONCE if self._is_light() else 1
        step = self.e.index(count)

        def visit(bases: list[list[Value]]) -> None:
            self._columns(
                bases, columns, lambda points, i: self._column_step(number, points, i, keys)
            )

        if count > 1:
            whole = self.e.subi(high, self.e.remui(self.e.subi(high, low), step))

            def several(row: Value, _: list[Value]) -> list[Value]:
                rows = [self.e.addi(row, self.e.index(i)) for i in range(count)]
                visit([bases_at(each) for each in rows])
                return []

            self._for(low, whole, step, [], several)
            low = whole

        def single(row: Value, _: list[Value]) -> list[Value]:
            visit([bases_at(row)])
            return []

        self._for(low, high, self.one, [], single)

    def _is_light(self) -> bool:
        """True if a row costs so little that the traffic of its accumulators counts."""
        is_stored = any(self._is_full(k) for _, k in self.kernel.stores)
        is_scan = any(self._is_scan(n) for n in self.reducers)
        return not is_stored and not is_scan and len(self.kernel.items) <= LIGHT_ITEMS

    def _columns(
        self,
        bases: list[list[Value]],
        columns: tuple[Value, Value],
        visit: Callable[[list[Point], Value], None],
    ) -> None:
        """Visits the columns of a tile, a vector at a time, the last one masked.

        There is a point for each of the rows whose bases are given.
        """
        first, last = columns
        axis = self.kernel.outer_rank - 1
        self.e.lanes = self.kernel.lanes

        def step(column: Value, mask: Value | None, _: list[Value]) -> list[Value]:
            points = [Point(partial(position, row, column), mask) for row in bases]
            visit(points, self.e.subi(column, first))
            return []

        def position(row: list[Value], column: Value, k: int) -> Value:
            return self._advance(row[k], column, self._stride(k, "o", axis))

        self._strip(first, last, [], {}, step)

    def _column_step(
        self, number: int, points: list[Point], index: Value, keys: dict[Any, int]
    ) -> None:
        loaded = {key: self._load_tile(key, n, index) for key, n in keys.items()}
        for point in points:
            for n in self._needed(number):
                if n not in point.values:
                    self._compute(point, n, loaded, index)
            for key, n in keys.items():
                if not self._is_scan(n):
                    reducer = self.reducers[n]
                    parts = reducer.parts(self._operands(point, n))
                    loaded[key] = reducer.combine(loaded[key], parts)
            self._store_pass(point, number)
        for key in keys:
            for tile, part in zip(self.tiles[key], loaded[key], strict=True):
                self.memory.store_row(part, tile, index)

    def _store_units(self, points: list[Point], index: Value) -> None:
        (point,) = points
        for n in self._closure([i for i, k in self.kernel.stores if not self._is_full(k)], None):
            self._compute(point, n, {}, index)
        for item, operand in self.kernel.stores:
            if not self._is_full(operand):
                self._store(point, item, operand)
