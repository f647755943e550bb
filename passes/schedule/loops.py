"""Schedules for the CPU: from the body of a fusion to kernels with their arguments.

Every choice here depends on the body and on sizes only, never on the number of threads, so results
are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

from ...dialects import dtypes
from ...dialects.program import Program
from . import body as bodies
from .body import Body, Walk
from .kernel import (
    STRIDED,
    UNIT,
    ZERO,
    Address,
    Item,
    Kernel,
    KernelLaunch,
    Mode,
    Operand,
    Schedule,
)
from .views import View, dense

VECTOR_BYTES = 64
"""The bytes of a vector of the widest dtype in a kernel."""
CHUNK_BYTES = 32 * 1024
"""What one unit of an elementwise kernel covers of its widest operand."""
SERIAL_BYTES = 256 * 1024
"""Launches that touch less than this run on the calling thread."""
STREAMING_BYTES = 16 * 1024 * 1024
"""Outputs from this size on are stored past the caches."""
ROW_SPLIT, ROW_CHUNK = 65536, 16384
"""Rows longer than the first are reduced in chunks of the second (elements)."""
COLUMN_SPLIT, COLUMN_CHUNK, COLUMN_TILE = 512, 128, 1024
"""Columns longer than the first are reduced in chunks of the second; units are tiles of columns."""
TILE_ROWS, TILE_CHUNK = 16, 512
"""Rows and columns (elements) of the tiles in which transposed operands are walked."""
FEW_UNITS = 16
"""Fewer rows or tiles than this are reduced in chunks sooner, to keep all threads busy."""
SAVED_BYTES = 256 * 1024
"""The largest row of scratch memory that a unit keeps between passes."""
EXPENSIVE = frozenset(
    [
        *("exp", "expm1", "log", "log1p", "log2", "log10", "sigmoid", "erf", "erfinv", "power"),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "logaddexp"),
        *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
        *("divide", "sqrt", "rsqrt", "floor_divide", "remainder"),
    ]
)
"""Ops worth a store and a load rather than a second computation, and worth fewer lanes."""
EXPENSIVE_WEIGHT = 12
"""What an expensive op counts beside one of a few instructions."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """One loop: its extent and the stride of every walk along it."""

    extent: int
    strides: tuple[int, ...]


def weight_of(names: Iterable[str]) -> int:
    """The work of ops by their names: cheap ones count 1, the others EXPENSIVE_WEIGHT."""
    return sum(EXPENSIVE_WEIGHT if name in EXPENSIVE else 1 for name in names)


def schedule(program: Program) -> Schedule:
    """The launches of a fusion's body; addresses refer to the program's inputs and outputs."""
    return schedule_body(bodies.resolve(program), [])


def schedule_body(body: Body, scratch: list[int]) -> Schedule:
    """As :func:`schedule`, for a resolved body; appends the scratch buffers it needs."""
    if prod(body.unit_shape) == 0 or (prod(body.domain) == 0 and not _is_reduction(body)):
        return Schedule((), tuple(scratch))
    walks = [*body.reads, *(walk for _, walk in body.stores)]
    outer, inner = _axes(body, walks)
    if not body.axes and not inner:
        inner = [outer.pop()] if outer else [_Axis(1, (0,) * len(walks))]
    mode = _mode(body, walks, outer, inner)
    if not inner:
        inner = [_Axis(1, (0,) * len(walks))]
    tiled = _is_tiled(body, walks, outer, inner)
    chunk = min(TILE_CHUNK, inner[0].extent) if tiled else _chunk(body, mode, outer, inner)
    if chunk < inner[0].extent and body.axes:
        return _split(body, mode, inner[0].extent, chunk, scratch)
    launch = _launch(body, walks, mode, outer, inner, chunk, 0, tiled)
    return Schedule((launch,), tuple(scratch))


def schedule_blocks(program: Program, chunk: int) -> tuple[Kernel, tuple[Address | int, ...]]:
    """An elementwise body by rows of the last axis: a unit is one chunk of one row.

    Returns the kernel and its arguments; addresses refer to the program's inputs and outputs.
    """
    body = bodies.resolve(program)
    walks = [*body.reads, *(walk for _, walk in body.stores)]
    axes = [
        _Axis(extent, tuple(walk.view.strides[axis] for walk in walks))
        for axis, extent in enumerate(body.domain)
    ]
    outer = _merged([axis for axis in axes[:-1] if axis.extent != 1])
    launch = _launch(body, walks, "inner", outer, axes[-1:], chunk, 0, streams=False)
    assert isinstance(launch.kernel, Kernel)
    return launch.kernel, launch.arguments


def _is_reduction(body: Body) -> bool:
    return any(item.level == "unit" and item.name.startswith(_REDUCERS) for item in body.items)


_REDUCERS = ("reduce_", "argmax", "argmin")
_SCANS = ("cumsum", "cumprod", "cummax", "cummin")


def _axes(body: Body, walks: list[Walk]) -> tuple[list[_Axis], list[_Axis]]:
    """The outer and inner loops: size-1 axes dropped, orders chosen, neighbours merged."""
    outer: list[_Axis] = []
    inner: list[_Axis] = []
    for axis, extent in enumerate(body.domain):
        if extent == 1:
            continue
        strides = tuple(
            0 if walk.level == "unit" and axis in body.axes else walk.view.strides[axis]
            for walk in walks
        )
        (inner if axis in body.axes else outer).append(_Axis(extent, strides))
    primary = _primary(body, walks)
    for loops in (outer, inner):
        loops.sort(key=lambda axis: -abs(axis.strides[primary]) if axis.strides[primary] else 0)
    return _merged(outer), _merged(inner)


def _primary(body: Body, walks: list[Walk]) -> int:
    """The walk whose memory order the loops follow: a reduction's largest read, else the output."""
    if not body.axes:
        return len(walks) - 1

    def span(index: int) -> int:
        walk = walks[index]
        return _bytes(walk) if walk.address is not None and walk.level == "full" else -1

    return max(range(len(walks)), key=lambda index: (span(index), -index))


def _merged(loops: list[_Axis]) -> list[_Axis]:
    merged: list[_Axis] = []
    for axis in loops:
        if merged and all(
            upper == lower * axis.extent
            for upper, lower in zip(merged[-1].strides, axis.strides, strict=True)
        ):
            merged[-1] = _Axis(merged[-1].extent * axis.extent, axis.strides)
        else:
            merged.append(axis)
    return merged


def _mode(body: Body, walks: list[Walk], outer: list[_Axis], inner: list[_Axis]) -> Mode:
    if not body.axes or not outer:
        return "inner"
    if not inner:
        return "outer"
    primary = _primary(body, walks)
    along_inner, along_outer = inner[-1].strides[primary], outer[-1].strides[primary]
    if along_outer == 1 and along_inner != 1:
        return "outer"
    if along_inner == 1:
        return "inner"
    nearer_inner = 0 < abs(along_inner) < abs(along_outer) or along_outer == 0
    return "inner" if nearer_inner else "outer"


def _is_tiled(body: Body, walks: list[Walk], outer: list[_Axis], inner: list[_Axis]) -> bool:
    """True if an elementwise kernel reads an operand across its rows."""
    if body.axes or not outer or outer[-1].extent < TILE_ROWS:
        return False
    return any(
        walk.address is not None
        and abs(outer[-1].strides[i]) == 1
        and abs(inner[-1].strides[i]) > 1
        for i, walk in enumerate(walks[: len(body.reads)])
    )


def _is_scan(body: Body) -> bool:
    return any(item.name in _SCANS for item in body.items)


def _chunk(body: Body, mode: Mode, outer: list[_Axis], inner: list[_Axis]) -> int:
    """Positions of the first inner axis that one unit covers."""
    extent = inner[0].extent
    if not body.axes:
        widest = max([item.dtype.size for item in body.items], default=4)
        chunk = CHUNK_BYTES // widest
        return extent if extent <= 2 * chunk and outer else min(chunk, extent)
    if _is_scan(body) or any(walk.level == "full" for _, walk in body.stores):
        return extent
    rest = prod(axis.extent for axis in inner[1:])
    units = prod(axis.extent for axis in outer)
    if mode == "inner":
        limit = ROW_CHUNK if units < FEW_UNITS else ROW_SPLIT
        return extent if extent * rest <= limit else max(1, ROW_CHUNK // rest)
    tiles = units // outer[-1].extent * -(-outer[-1].extent // COLUMN_TILE)
    limit = COLUMN_CHUNK if tiles < FEW_UNITS else COLUMN_SPLIT
    return extent if extent * rest <= limit else max(1, COLUMN_CHUNK // rest)


def _lanes(body: Body, mode: Mode) -> int:
    if _is_scan(body) and mode == "inner":
        return 1
    widest = max(_compute_size(item.dtype) for item in body.items)
    lanes = VECTOR_BYTES // widest
    cheap = not any(item.name in EXPENSIVE for item in body.items)
    return lanes * 2 if cheap and body.axes and mode == "inner" else lanes


def _compute_size(dtype: dtypes.DType) -> int:
    """Bytes of an element in a register: short floats widen to f32, a complex is two parts."""
    if dtype.kind == "floating":
        return max(dtype.size, 4)
    return 4 if dtype.kind == "complex" else dtype.size


def _launch(
    body: Body,
    walks: list[Walk],
    mode: Mode,
    outer: list[_Axis],
    inner: list[_Axis],
    chunk: int,
    chunk_stride: int,
    tiled: bool = False,
    streams: bool = True,
) -> KernelLaunch:
    """One kernel with its arguments; ``chunk_stride`` is where stores of partial results go."""
    lanes = _lanes(body, mode)
    chunked = not body.axes or chunk < inner[0].extent
    touched = sum(_bytes(walk) for walk in walks)
    operands = tuple(
        _operand(
            walk, i, mode, outer, inner,
            chunk_stride if i >= len(body.reads) else 0,
            streams
            and i >= len(body.reads)
            and _may_stream(walk, i, lanes, mode, outer, inner, chunk),
        )
        for i, walk in enumerate(walks)
    )  # fmt: skip
    stores = tuple((item, len(body.reads) + i) for i, (item, _) in enumerate(body.stores))
    saved = _saved(body, mode, lanes, inner)
    kernel = Kernel(mode, lanes, chunked, tiled, operands, tuple(body.items), stores, saved)
    arguments = _arguments(kernel, walks, outer, inner, chunk, chunk_stride)
    units = prod(axis.extent for axis in outer)
    if mode == "outer":
        units = units // outer[-1].extent * -(-outer[-1].extent // COLUMN_TILE)
    if tiled:
        units = units // outer[-1].extent * -(-outer[-1].extent // TILE_ROWS)
    if chunked:
        units *= -(-inner[0].extent // chunk)
    grain = units
    if touched >= SERIAL_BYTES:
        grain = max(1, min(units // 64, CHUNK_BYTES * units // touched))
    return KernelLaunch(kernel, arguments, units, grain)


def _bytes(walk: Walk) -> int:
    """The bytes of memory that a walk touches."""
    extents = [n for n, s in zip(walk.view.shape, walk.view.strides, strict=True) if s]
    return prod(extents) * walk.dtype.size if walk.address is not None else 0


def _class(stride: int, is_lane: bool) -> str:
    if stride == 0:
        return ZERO
    return UNIT if is_lane and stride == 1 else STRIDED


def _operand(
    walk: Walk,
    index: int,
    mode: Mode,
    outer: list[_Axis],
    inner: list[_Axis],
    chunk_stride: int,
    streaming: bool,
) -> Operand:
    outer_classes = tuple(
        _class(axis.strides[index], mode == "outer" and i == len(outer) - 1)
        for i, axis in enumerate(outer)
    )
    inner_classes = tuple(
        _class(axis.strides[index], mode == "inner" and i == len(inner) - 1)
        for i, axis in enumerate(inner)
    )
    return Operand(
        walk.dtype, walk.level, outer_classes, inner_classes,
        STRIDED if chunk_stride else ZERO, streaming, walk.address is not None,
    )  # fmt: skip


def _may_stream(
    walk: Walk, index: int, lanes: int, mode: Mode, outer: list[_Axis], inner: list[_Axis],
    chunk: int,
) -> bool:  # fmt: skip
    """True if a store is large and every full vector of it lies at a multiple of its size."""
    if mode != "inner" or walk.level != "full" or lanes == 1 or _bytes(walk) < STREAMING_BYTES:
        return False
    if inner[-1].strides[index] != 1 or walk.dtype.kind in ("bool", "complex"):
        return False
    steps = [axis.strides[index] for axis in (*outer, *inner[:-1])]
    if len(inner) == 1:
        steps.append(chunk)
    return walk.view.offset % lanes == 0 and all(step % lanes == 0 for step in steps)


def _saved(body: Body, mode: Mode, lanes: int, inner: list[_Axis]) -> tuple[int, ...]:
    """Items whose values a later pass needs and which are worth keeping in a row of scratch."""
    if mode != "inner" or lanes == 1 or len(inner) != 1 or not body.axes:
        return ()
    depths = pass_depths(body.items)
    last_use = list(depths)
    for number, item in enumerate(body.items):
        if item.level == "full" or item.name.startswith(_REDUCERS):
            depth = depths[number] - (item.level == "unit")
            for operand in item.operands:
                last_use[operand] = max(last_use[operand], depth)
    saved = [
        number
        for number, item in enumerate(body.items)
        if item.level == "full" and item.name in EXPENSIVE and last_use[number] > depths[number]
        and item.dtype.kind == "floating"
    ]  # fmt: skip
    width = sum(_compute_size(body.items[number].dtype) for number in saved)
    return tuple(saved) if width * (inner[0].extent + lanes) <= SAVED_BYTES else ()


def pass_depths(items: list[Item] | tuple[Item, ...]) -> list[int]:
    """The first pass over a unit in which each item can be computed.

    A reduction runs in its operand's pass; its result is there for the next one.
    """
    depths: list[int] = []
    for item in items:
        depth = max((depths[operand] for operand in item.operands), default=0)
        depths.append(depth + item.name.startswith(_REDUCERS))
    return depths


def _arguments(
    kernel: Kernel,
    walks: list[Walk],
    outer: list[_Axis],
    inner: list[_Axis],
    chunk: int,
    chunk_stride: int,
) -> tuple[Address | int, ...]:
    """The argument words, in the order of :func:`argument_names`."""
    words: list[Address | int] = []
    for walk in walks:
        if walk.address is None:
            words.append(walk.view.offset)
        else:
            offset = walk.address.offset + walk.view.offset * walk.dtype.size
            words.append(replace(walk.address, offset=offset))
    words.extend(axis.extent for axis in outer)
    words.extend(axis.extent for axis in inner)
    words.append(chunk)
    for index, operand in enumerate(kernel.operands):
        for classes, loops in ((operand.outer, outer), (operand.inner, inner)):
            for kind, axis in zip(classes, loops, strict=True):
                if kind == STRIDED:
                    words.append(axis.strides[index])
        if operand.chunk == STRIDED:
            words.append(chunk_stride)
    return tuple(words)


def argument_names(kernel: Kernel) -> list[str]:
    """A name for each argument word: buffers, extents, the chunk, and the strides in use."""
    names = [f"{'buffer' if o.memory else 'start'}{i}" for i, o in enumerate(kernel.operands)]
    names += [f"outer{i}" for i in range(kernel.outer_rank)]
    names += [f"inner{i}" for i in range(kernel.inner_rank)]
    names.append("chunk")
    for index, operand in enumerate(kernel.operands):
        names += [f"stride{index}_o{i}" for i, k in enumerate(operand.outer) if k == STRIDED]
        names += [f"stride{index}_i{i}" for i, k in enumerate(operand.inner) if k == STRIDED]
        if operand.chunk == STRIDED:
            names.append(f"stride{index}_chunk")
    return names


def _split(body: Body, mode: Mode, extent: int, chunk: int, scratch: list[int]) -> Schedule:
    """A reduction in two steps: partial results of chunks, then their reduction.

    The first inner axis, of this extent, is what the chunks are cut from.
    """
    count = -(-extent // chunk)
    units = prod(body.unit_shape)
    reducers = [n for n, item in enumerate(body.items) if item.name.startswith(_REDUCERS)]
    needed = _needed(body.items, reducers)
    renumbered = {old: new for new, old in enumerate(needed)}
    items = [_renumber(body.items[old], renumbered) for old in needed]
    first = Body(body.domain, body.axes, items, body.reads, [])
    pairs = [(n, part) for n in reducers for part in range(len(body.items[n].operands))]
    partials: dict[tuple[int, int], Walk] = {}
    for number, part in pairs:
        item = body.items[number]
        dtype = _partial_dtype(body.items, item, part)
        address = Address("scratch", len(scratch))
        scratch.append(units * count * dtype.size)
        walk = Walk(dtype, "unit", dense(body.unit_shape), address)
        partials[number, part] = walk
        source = renumbered[number]
        if len(item.operands) == 1:
            items[source] = replace(items[source], dtype=dtype)
        elif part == 0:
            source = len(items)
            items.append(replace(items[renumbered[number]], name=f"{item.name}_value", dtype=dtype))
        first.stores.append((source, walk))
    walks = [*first.reads, *(walk for _, walk in first.stores)]
    launch_outer, launch_inner = _axes(first, walks)
    launch = _launch(first, walks, mode, launch_outer, launch_inner, chunk, units)
    rest = schedule_body(_combination(body, partials, count, units), scratch)
    return Schedule((launch, *rest.launches), rest.scratch)


def _partial_dtype(items: list[Item], item: Item, part: int) -> dtypes.DType:
    """The dtype of partial results: short floats are not rounded before the end."""
    dtype = items[item.operands[0]].dtype if part == 0 else item.dtype
    return dtypes.float32 if dtype.kind == "floating" and dtype.size == 2 else dtype


def _needed(items: list[Item], roots: list[int]) -> list[int]:
    alive = set(roots)
    for number in range(len(items) - 1, -1, -1):
        if number in alive:
            alive.update(items[number].operands)
    return sorted(alive)


def _renumber(item: Item, numbers: dict[int, int]) -> Item:
    return replace(item, operands=tuple(numbers[operand] for operand in item.operands))


def _combination(body: Body, partials: dict[tuple[int, int], Walk], count: int, units: int) -> Body:
    """The second step: partial results lie chunk-major, as an axis before all others."""
    unit = body.unit_shape
    domain = (count, *unit)
    combined = Body(domain, (0,), [], [], [])
    numbers: dict[int, int] = {}
    for old, item in enumerate(body.items):
        if item.level != "unit":
            continue
        if item.name.startswith(_REDUCERS):
            operands: list[int] = []
            for part in range(len(item.operands)):
                walk = partials[old, part]
                view = View(domain, (units, *walk.view.strides))
                combined.reads.append(Walk(walk.dtype, "full", view, walk.address))
                operands.append(len(combined.items))
                read = (len(combined.reads) - 1,)
                combined.items.append(Item("load", (), walk.dtype, "full", read))
            new = replace(item, operands=tuple(operands))
        elif item.name in ("load", "index"):
            walk = body.reads[item.attributes[0]]
            combined.reads.append(_with_axis(walk))
            new = replace(item, attributes=(len(combined.reads) - 1,))
        else:
            new = _renumber(item, numbers)
        numbers[old] = len(combined.items)
        combined.items.append(new)
    combined.stores = [(numbers[item], _with_axis(walk)) for item, walk in body.stores]
    return combined


def _with_axis(walk: Walk) -> Walk:
    view = View((1, *walk.view.shape), (0, *walk.view.strides), walk.view.offset)
    return replace(walk, view=view)
