"""Emits a kernel as a function over ``scf``, ``vector``, ``memref`` and ``arith``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mlir import ir
from mlir.dialects import func, scf

from ..dialects.dtypes import DType
from . import scalar_bodies
from .conversions import memory_element, round_to
from .emitter import Emitter, Value
from .kernel import STRIDED, UNIT, ZERO, Item, Kernel
from .memory import Memory
from .reducers import Reducer, reducer_of
from .schedule import COLUMN_TILE, TILE_ROWS, argument_names, pass_depths

ROWS_AT_ONCE, LIGHT_ITEMS = 4, 6
"""Rows that a column reduction of few ops adds up before it stores its accumulators."""
BLOCK_STEPS = 32
"""Vector steps of a float sum that are added up before they join the running total."""


def argument_types(kernel: Kernel) -> list[ir.Type]:
    """The types of a kernel's argument words."""
    types: list[ir.Type] = []
    for argument in argument_names(kernel):
        operand = argument.removeprefix("buffer")
        if operand != argument:
            element = memory_element(kernel.operands[int(operand)].dtype)
            types.append(ir.Type.parse(f"memref<?x{element}>"))
        else:
            types.append(ir.IndexType.get())
    return types


def emit(kernel: Kernel, name: str, visibility: str | None = None) -> None:
    """Emits ``func.func @name(begin, end, arguments...)`` at the insertion point."""
    emission = _Emission(kernel)
    types = [emission.e.index_type] * 2 + argument_types(kernel)
    function = func.FuncOp(name, ir.FunctionType.get(types, []), visibility=visibility)
    block = function.add_entry_block()
    with ir.InsertionPoint(block):
        emission.function(list(block.arguments))
        func.ReturnOp([])


class _Point:
    """A place in the iteration space: where each operand stands, and the values known there."""

    def __init__(self, positions: Callable[[int], Value], mask: Value | None) -> None:
        self.position = positions
        self.mask = mask
        self.values: dict[int, Any] = {}


class _Emission:
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
        self.passes = 1 + max([0, *full_stores, *reductions])

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
            if self.kernel.mode == "inner":
                self._inner_unit(loop.induction_variable)
            else:
                self._outer_unit(loop.induction_variable)
            scf.YieldOp([])

    def _allocate(self) -> None:
        kernel = self.kernel
        self.rows: dict[int, Value] = {}
        for number in kernel.saved:
            element = scalar_bodies.register_dtype(kernel.items[number].dtype)
            size = self.e.addi(self.inner[0], self.step)
            self.rows[number] = self.memory.allocate(element, size)
        self.tiles: dict[Any, list[Value]] = {}
        if kernel.mode == "outer":
            for reducer in self.reducers.values():
                if reducer.key not in self.tiles:
                    size = self.e.index(COLUMN_TILE + kernel.lanes)
                    self.tiles[reducer.key] = [
                        self.memory.allocate(element, size) for element in reducer.elements
                    ]

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

    # Lanes along the last inner axis

    def _inner_unit(self, unit: Value) -> None:
        if self.kernel.tiled:
            self._tiled_unit(unit)
            return
        chunk_number = None
        if self.kernel.chunked:
            chunk_number = self.e.remui(unit, self.chunks)
            unit = self.e.divui(unit, self.chunks)
        self._inner_point(self._delinearize(unit, self.outer), chunk_number)

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
                point = _Point(partial(position, row, column), mask)
                return self._step(0, point, column, [], {})

            return self._for(first, last, self.one, [], step)

        self.e.lanes = self.kernel.lanes
        self._strip(low, high, [], {}, down)

    def _inner_point(self, coordinates: Sequence[Value], chunk_number: Value | None) -> None:
        bases = self._bases(coordinates, chunk_number)
        bounds = self._chunk_bounds(chunk_number)
        unit_point = _Point(lambda k: bases[k], None)
        self._unit_values(unit_point, 0)
        for number in range(self.passes):
            self._inner_pass(number, bases, bounds, unit_point)
            self._unit_values(unit_point, number + 1)
        for item, operand in self.kernel.stores:
            if not self._is_full(operand):
                self._store(unit_point, item, operand)

    def _unit_values(self, point: _Point, depth: int) -> None:
        """Computes the unit-level items that are ready after ``depth`` passes."""
        self.e.lanes = 1
        for number, item in enumerate(self.kernel.items):
            ready = number not in self.reducers and self.depths[number] <= depth
            if item.level == "unit" and ready and number not in point.values:
                self._compute(point, number)

    def _inner_pass(
        self, number: int, bases: list[Value], bounds: tuple[Value, Value], unit: _Point
    ) -> None:
        running = [n for n in self.reducers if self._runs_in(n, number)]
        keys = self._keys(running)
        self.e.lanes = self.kernel.lanes
        accumulators = [part for n in keys.values() for part in self.reducers[n].identity()]
        shared = {
            n: self._splat(unit.values[n])
            for n in self._needed(number)
            if self.kernel.items[n].level == "unit"
        }
        results = self._inner_loops(number, 0, bases, bounds, accumulators, keys, shared)
        reduced = self._unpack(keys, results)
        for n in running:
            if not self._is_scan(n):
                reducer = self.reducers[n]
                self.e.lanes = self.kernel.lanes
                parts = reducer.across_lanes(reduced[reducer.key])
                self.e.lanes = 1
                unit.values[n] = self._finish(n, parts)

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

    def _inner_loops(
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
            return self._lane_loop(number, bases, low, high, accumulators, keys, shared)
        loop = scf.ForOp(low, high, self.one, accumulators)
        with ir.InsertionPoint(loop.body):
            moved = [
                self._advance(base, loop.induction_variable, self._stride(k, "i", axis))
                for k, base in enumerate(bases)
            ]
            inner_bounds = (self.zero, self.inner[axis + 1])
            carried = list(loop.inner_iter_args)
            scf.YieldOp(
                self._inner_loops(number, axis + 1, moved, inner_bounds, carried, keys, shared)
            )
        return list(loop.results)

    def _lane_loop(
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
                operand = item.attributes[0]
                if self.kernel.operands[operand].inner[axis] == ZERO:
                    self.e.lanes = 1
                    value = self.memory.load(
                        self.kernel.operands[operand].dtype,
                        self.words[f"buffer{operand}"], bases[operand], None, None,
                    )  # fmt: skip
                    self.e.lanes = self.kernel.lanes
                    shared[n] = self._splat(value)

        def step(index: Value, mask: Value | None, carried: list[Value]) -> list[Value]:
            point = _Point(
                lambda k: self._advance(bases[k], index, self._stride(k, "i", axis)), mask
            )
            point.values.update(shared)
            return self._step(number, point, index, carried, keys)

        return self._strip(low, high, accumulators, keys, step)

    def _strip(
        self,
        low: Value,
        high: Value,
        accumulators: list[Value],
        keys: dict[Any, int],
        step: Callable[[Value, Value | None, list[Value]], list[Value]],
    ) -> list[Value]:
        """Whole vectors from low to high, then a masked one."""
        if self.kernel.lanes == 1:
            return self._for(low, high, self.one, accumulators, lambda i, c: step(i, None, c))
        length = self.e.subi(high, low)
        rest = self.e.remui(length, self.step)
        whole = self.e.subi(high, rest)
        blocked = any(self.reducers[n].starts_at_negative_zero for n in keys.values())
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
            with ir.InsertionPoint(branch.else_block):
                scf.YieldOp(carried)
        return list(branch.results)

    def _blocks(
        self,
        low: Value,
        high: Value,
        totals: list[Value],
        keys: dict[Any, int],
        step: Callable[[Value, Value | None, list[Value]], list[Value]],
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

    def _step(
        self, number: int, point: _Point, index: Value, carried: list[Value], keys: dict[Any, int]
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

    # Lanes along the last outer axis

    def _outer_unit(self, unit: Value) -> None:
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
            self._outer_pass(number, bases, bounds, (first, last))
        if any(not self._is_full(k) for _, k in self.kernel.stores):
            self._columns([bases], (first, last), self._store_units)

    def _outer_pass(
        self,
        number: int,
        bases: list[Value],
        bounds: tuple[Value, Value],
        columns: tuple[Value, Value],
    ) -> None:
        running = [n for n in self.reducers if self._runs_in(n, number)]
        keys = self._keys(running)
        self.e.lanes = self.kernel.lanes

        def clear(_: list[_Point], index: Value) -> None:
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
        visit: Callable[[list[_Point], Value], None],
    ) -> None:
        """Visits the columns of a tile, a vector at a time, the last one masked.

        There is a point for each of the rows whose bases are given.
        """
        first, last = columns
        axis = self.kernel.outer_rank - 1
        self.e.lanes = self.kernel.lanes

        def step(column: Value, mask: Value | None, _: list[Value]) -> list[Value]:
            points = [_Point(partial(position, row, column), mask) for row in bases]
            visit(points, self.e.subi(column, first))
            return []

        def position(row: list[Value], column: Value, k: int) -> Value:
            return self._advance(row[k], column, self._stride(k, "o", axis))

        self._strip(first, last, [], {}, step)

    def _column_step(
        self, number: int, points: list[_Point], index: Value, keys: dict[Any, int]
    ) -> None:
        loaded = {key: self._load_tile(key, n, index) for key, n in keys.items()}
        for point in points:
            for n in self._needed(number):
                if n not in point.values:
                    self._compute(point, n, loaded, index)
            for key, n in keys.items():
                if not self._is_scan(n):
                    operands = self._operands(point, n)
                    loaded[key] = self.reducers[n].combine(loaded[key], operands)
            self._store_pass(point, number)
        for key in keys:
            for tile, part in zip(self.tiles[key], loaded[key], strict=True):
                self.memory.store_row(part, tile, index)

    def _load_tile(self, key: Any, number: int, index: Value) -> list[Value]:
        elements = self.reducers[number].elements
        return [
            self.memory.load_row(tile, index, element)
            for tile, element in zip(self.tiles[key], elements, strict=True)
        ]

    def _store_units(self, points: list[_Point], index: Value) -> None:
        (point,) = points
        for n in self._closure([i for i, k in self.kernel.stores if not self._is_full(k)], None):
            self._compute(point, n, {}, index)
        for item, operand in self.kernel.stores:
            if not self._is_full(operand):
                self._store(point, item, operand)

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
            is_scalar = item.level == "unit" and self.kernel.mode == "inner"
            if not (is_kept or is_reduced or is_scalar):
                stack.extend(item.operands)
        return sorted(alive)

    def _operands(self, point: _Point, number: int) -> list[Any]:
        return [point.values[operand] for operand in self.kernel.items[number].operands]

    def _register(self, number: int) -> str:
        return scalar_bodies.register_dtype(self.kernel.items[number].dtype)

    def _compute(
        self, point: _Point, number: int, accumulators: Any = None, index: Value | None = None
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

    def _reduced(self, point: _Point, number: int, accumulators: Any, index: Value | None) -> Any:
        """The running value of a scan, or a finished reduction in a tile."""
        reducer = self.reducers[number]
        if not self._is_scan(number):
            assert index is not None
            return self._finish(number, self._load_tile(reducer.key, number, index))
        old = accumulators[reducer.key]
        new = reducer.combine(old, self._operands(point, number))
        accumulators[reducer.key] = new
        item = self.kernel.items[number]
        value = reducer.result(new if item.attributes[1] else self._exclusive(number, old))
        return self._rounded(value, item.dtype)

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

    def _splat(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self.e.splat(part) for part in value)
        return self.e.splat(value)

    def _constant(self, item: Item) -> Any:
        value = item.attributes[0]
        if item.dtype.kind == "complex":
            number = complex(value)
            return self.e.constant(number.real, "f32"), self.e.constant(number.imag, "f32")
        constant = self.e.constant(value, scalar_bodies.register_dtype(item.dtype))
        return self._rounded(constant, item.dtype)

    def _lane_stride(self, operand: int) -> Value | None:
        side, rank = "i", self.kernel.inner_rank
        if self.kernel.mode == "outer":
            side, rank = "o", self.kernel.outer_rank
        return self._stride(operand, side, rank - 1)

    def _load(self, point: _Point, operand: int) -> Any:
        buffer = self.words[f"buffer{operand}"]
        position = point.position(operand)
        stride = self._lane_stride(operand) if self.e.lanes > 1 else None
        if self.e.lanes > 1 and stride is None:
            lanes, self.e.lanes = self.e.lanes, 1
            value = self.memory.load(
                self.kernel.operands[operand].dtype, buffer, position, None, None
            )
            self.e.lanes = lanes
            return self._splat(value)
        unit = stride is self.one
        dtype = self.kernel.operands[operand].dtype
        return self.memory.load(dtype, buffer, position, None if unit else stride, point.mask)

    def _position(self, point: _Point, item: Item) -> Any:
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

    def _store_pass(self, point: _Point, number: int) -> None:
        for item, operand in self.kernel.stores:
            if self._is_full(operand) and self.depths[item] == number:
                self._store(point, item, operand)

    def _store(self, point: _Point, item: int, operand: int) -> None:
        entry = self.kernel.operands[operand]
        stride = self._lane_stride(operand) if self.e.lanes > 1 else None
        self.memory.store(
            entry.dtype,
            self._splat(point.values[item]),
            self.words[f"buffer{operand}"],
            point.position(operand),
            "unit" if stride is self.one else stride,
            point.mask,
            entry.streaming,
        )
