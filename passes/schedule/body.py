"""From the body of a fusion to items and the buffers they touch: views become strides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

from ...dialects import dtypes, ops
from ...dialects.dtypes import DType
from ...dialects.primitive import Shape
from ...dialects.program import Instruction, Program, is_lifted, scalar_bytes
from ...errors import PassError
from . import views
from .kernel import Address, Item, Level
from .views import View


@dataclass(frozen=True, slots=True)
class Walk:
    """A buffer or a position, walked by a view over the whole domain or over its units."""

    dtype: DType
    level: Level
    view: View
    address: Address | None


@dataclass(slots=True)
class Body:
    """The resolved body of a fusion.

    Attributes:
        domain: the shape that is iterated over.
        axes: the axes that reductions reduce, or that a scan runs along.
        items: the ops; see :class:`~lamina.passes.schedule.kernel.Item`.
        reads: what ``load`` and ``index`` items walk, by their attribute.
        stores: pairs of an item number and where it goes.
    """

    domain: Shape
    axes: tuple[int, ...]
    items: list[Item]
    reads: list[Walk]
    stores: list[tuple[int, Walk]]

    @property
    def unit_shape(self) -> Shape:
        """The domain with the reduced axes at size 1."""
        return tuple(1 if i in self.axes else n for i, n in enumerate(self.domain))


@dataclass(frozen=True, slots=True)
class _Source:
    """A value that is only read so far: an input, a position or a constant, through views."""

    dtype: DType
    view: View
    address: Address | None
    constant: Any = None
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class _Computed:
    """A value that an item computes; ``shape`` may differ from the item's by a reshape."""

    item: int
    shape: Shape


def domain_of(program: Program) -> tuple[Shape, tuple[int, ...]]:
    """The iteration domain of a body, and the axes its reductions or scans run along."""
    for instruction in program.instructions:
        kind = instruction.primitive.kind
        if kind in ("reduction", "scan") and axes_of(instruction):
            shape = program.type_of(instruction.operands[0]).shape
            return shape, axes_of(instruction)
    value = program.outputs[0]
    while True:
        index = value - len(program.inputs)
        if index < 0:
            return program.type_of(value).shape, ()
        instruction = program.instructions[index]
        if instruction.primitive is ops.slice_update:
            value = instruction.operands[1]
        elif instruction.primitive is ops.reshape and not _is_source(program, value):
            value = instruction.operands[0]
        else:
            return instruction.type.shape, ()


def axes_of(instruction: Instruction) -> tuple[int, ...]:
    """The axes that a reduction or a scan runs along."""
    first = instruction.attributes[0]
    return first if isinstance(first, tuple) else (first,)


def _is_source(program: Program, value: int) -> bool:
    """True if views alone lie between the value and an input or a creation op."""
    while value >= len(program.inputs):
        instruction = program.instructions[value - len(program.inputs)]
        if instruction.primitive.kind == "creation":
            return True
        if instruction.primitive.kind != "view":
            return False
        value = instruction.operands[0]
    return True


def resolve(program: Program) -> Body:
    """The body's items; raises PassError where the program is not one fusion."""
    domain, axes = domain_of(program)
    resolver = _Resolver(program, Body(domain, axes, [], [], []))
    for instruction in program.instructions:
        resolver.values.append(resolver.value(instruction))
    for number, value in enumerate(program.outputs):
        resolver.store(number, value)
    if any(i.primitive.kind == "scan" and i.attributes[1] for i in program.instructions):
        _reverse(resolver.body)
    return resolver.body


def _reverse(body: Body) -> None:
    """Turns every walk around along the axis of a scan that runs from the end."""
    body.reads = [_reversed(walk, body.axes[0]) for walk in body.reads]
    body.stores = [(item, _reversed(walk, body.axes[0])) for item, walk in body.stores]


def _reversed(walk: Walk, axis: int) -> Walk:
    view = walk.view
    strides = list(view.strides)
    offset = view.offset + (view.shape[axis] - 1) * strides[axis]
    strides[axis] = -strides[axis]
    return replace(walk, view=View(view.shape, tuple(strides), offset))


class _Resolver:
    def __init__(self, program: Program, body: Body) -> None:
        self.program = program
        self.body = body
        self.values: list[_Source | _Computed | tuple[_Source, _Computed]] = []
        self.known: dict[Item, int] = {}
        for number, (shape, dtype) in enumerate(program.inputs):
            self.values.append(_Source(dtype, views.dense(shape), Address("input", number)))

    def value(self, instruction: Instruction) -> Any:
        primitive, _, attributes, type_ = instruction
        if primitive is ops.constant:
            if is_lifted(*attributes):
                raise PassError("a lifted constant must be an input of the fusion")
            return _Source(type_.dtype, views.dense(()), None, attributes[0], True)
        if primitive is ops.iota:
            strides = tuple(int(i == attributes[2]) for i in range(len(type_.shape)))
            return _Source(type_.dtype, View(type_.shape, strides), None)
        if primitive.kind == "view":
            return self._view(instruction)
        if primitive is ops.slice_update:
            return self._update(instruction)
        return self._compute(instruction)

    def _view(self, instruction: Instruction) -> _Source | _Computed:
        operand = self.values[instruction.operands[0]]
        if isinstance(operand, _Computed):
            if instruction.primitive not in (ops.reshape, ops.broadcast):
                raise PassError(f"{instruction.primitive.name} of a value that is being computed")
            return _Computed(operand.item, instruction.type.shape)
        assert isinstance(operand, _Source)
        if operand.is_constant:
            shape = instruction.type.shape
            return replace(operand, view=View(shape, (0,) * len(shape)))
        view = views.apply(instruction.primitive, operand.view, instruction.attributes)
        if view is None:
            raise PassError(f"no strides describe {instruction.primitive.name} of {operand.view}")
        return replace(operand, view=view)

    def _update(self, instruction: Instruction) -> tuple[_Source, _Computed]:
        target, update = (self.values[operand] for operand in instruction.operands)
        start, step = instruction.attributes
        assert isinstance(target, _Source)
        size = self.program.type_of(instruction.operands[1]).shape
        view = views.apply(ops.slice_, target.view, (start, size, step))
        assert view is not None
        return replace(target, view=view), _Computed(self._item_of(update, "full"), size)

    def _compute(self, instruction: Instruction) -> _Computed:
        primitive, operands, attributes, type_ = instruction
        values = [self.values[operand] for operand in operands]
        level = "full" if primitive.kind != "elementwise" else self._level(values, type_.shape)
        items = tuple(self._item_of(value, level) for value in values)
        if primitive.kind == "reduction":
            if not axes_of(instruction):
                return _Computed(items[0], type_.shape)
            if axes_of(instruction) != self.body.axes:
                raise PassError("reductions over different axes in one fusion")
            level = "unit"
            if primitive in (ops.argmax, ops.argmin):
                items = (*items, self._position(axes_of(instruction)[0]))
            attributes = ()
        elif primitive.kind == "scan":
            attributes = attributes[1:]
        item = Item(primitive.name, items, type_.dtype, level, attributes)
        return _Computed(self._add(item), type_.shape)

    def _position(self, axis: int) -> int:
        strides = tuple(int(i == axis) for i in range(len(self.body.domain)))
        source = _Source(dtypes.uint32, View(self.body.domain, strides), None)
        return self._item_of(source, "full")

    def _level(self, values: list[Any], shape: Shape) -> Level:
        if not self.body.axes or shape != self.body.unit_shape:
            return "full"
        levels = [self.body.items[v.item].level for v in values if isinstance(v, _Computed)]
        if "full" in levels or (not levels and shape == self.body.domain):
            return "full"
        return "unit"

    def _add(self, item: Item) -> int:
        known = self.known.get(item)
        if known is None:
            known = self.known[item] = len(self.body.items)
            self.body.items.append(item)
        return known

    def _item_of(self, value: Any, level: Level) -> int:
        if isinstance(value, _Computed):
            if value.shape not in (self.body.domain, self.body.unit_shape):
                raise PassError(f"shape {value.shape} in a domain of shape {self.body.domain}")
            return value.item
        if isinstance(value, tuple):
            raise PassError("an updated array is read inside its own fusion")
        if value.is_constant:
            # By bits: 0.0 and -0.0 are equal numbers.
            bits = scalar_bytes(value.constant, value.dtype).hex()
            return self._add(Item("constant", (), value.dtype, "unit", (bits,)))
        shape = self.body.domain if level == "full" else self.body.unit_shape
        if value.view.shape != shape:
            raise PassError(f"a read of shape {value.view.shape} in a domain of shape {shape}")
        walk = Walk(value.dtype, level, value.view, value.address)
        if walk not in self.body.reads:
            self.body.reads.append(walk)
        name = "index" if value.address is None else "load"
        return self._add(Item(name, (), value.dtype, level, (self.body.reads.index(walk),)))

    def store(self, number: int, output: int) -> None:
        """Adds the store of one of the program's outputs."""
        value = self.values[output]
        if isinstance(value, tuple):
            target, update = value
            walk = Walk(target.dtype, "full", target.view, Address("output", number))
            self.body.stores.append((update.item, walk))
            return
        item = value.item if isinstance(value, _Computed) else self._item_of(value, "full")
        # A constant is known to a unit whatever its shape.
        is_unit = (
            isinstance(value, _Computed)
            and self.body.items[item].level == "unit"
            and bool(self.body.axes)
            and prod(value.shape) == prod(self.body.unit_shape)
        )
        shape = self.body.unit_shape if is_unit else self.body.domain
        walk = Walk(
            self.program.type_of(output).dtype,
            "unit" if is_unit else "full",
            views.dense(shape),
            Address("output", number),
        )
        self.body.stores.append((item, walk))
