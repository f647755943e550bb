"""Which ops become one kernel: a partition of a program into fusions.

Groups grow along the program. An op joins a group that computes one of its operands when both
iterate over one domain; a reduction gives its group axes, and what is broadcast back along them
stays in the group (softmax, norms: a row is read once). Groups that read the same data over one
domain join too. Everything here depends on the program only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from ...dialects import ops
from ...dialects.primitive import Shape
from ...dialects.program import Instruction, Program, is_lifted
from ..schedule import views
from ..schedule.body import axes_of
from ..schedule.contraction import matrix_of
from ..schedule.loops import FEW_UNITS, ROW_CHUNK, weight_of
from .order import DependencyOrder

MAXIMUM_WEIGHT = 240
"""The most work in one kernel; see :func:`~lamina.passes.schedule.loops.weight_of`."""
MAXIMUM_BUFFERS = 48
"""The most distinct buffers of one kernel."""
ROW_LIMIT = 65536
"""The longest row (elements) that one kernel keeps from load to store."""
SEARCH_LIMIT = 256
"""Groups looked at to show that a merge makes no cycle; beyond it the merge is not made."""


@dataclass(slots=True)
class Group:
    """Ops that become one kernel.

    Attributes:
        members: instruction numbers, ascending.
        domain: the shape iterated over.
        axes: the reduced axes, or None while nothing is reduced.
        kind: ``loop``, ``reduction``, ``scan``, ``copy``, ``update`` or ``contraction``.
        weight: the work of the members; see :data:`MAXIMUM_WEIGHT`.
        reads: values read from memory.
        producers: groups whose results are read.
        opaque: the producers that are read through a view that moves elements, so from memory.
    """

    members: list[int]
    domain: Shape
    axes: tuple[int, ...] | None
    kind: str
    weight: int
    reads: set[int] = field(default_factory=set)
    producers: set[int] = field(default_factory=set)
    opaque: set[int] = field(default_factory=set)

    @property
    def unit_shape(self) -> Shape:
        """The domain with the reduced axes at size 1."""
        axes = self.axes or ()
        return tuple(1 if i in axes else n for i, n in enumerate(self.domain))

    @property
    def can_grow(self) -> bool:
        """True if other ops may join."""
        return self.kind in ("loop", "reduction")


@dataclass(frozen=True, slots=True)
class _Root:
    """Where a chain of views ends: the value that is read, and how it is seen."""

    value: int
    is_direct: bool
    is_broadcast: bool


class Partition:
    """The groups of a program.

    Attributes:
        program: the program, its updates made explicit.
        groups: the groups by number; a merged group leaves a None.
        group_of: for each instruction its group's number, or None for views and creation ops.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.first = len(program.inputs)
        self.groups: list[Group | None] = []
        self.order = DependencyOrder()
        self.group_of: list[int | None] = [None] * len(program.instructions)
        self.users = _users(program)
        self.outputs = set(program.outputs)
        self.copied = _copies(program)
        for number in range(len(program.instructions)):
            self._place(number)
        self._join_siblings()
        self._join_epilogues()

    # Values

    def instruction(self, value: int) -> Instruction | None:
        """The instruction that defines a value, or None for an input."""
        return self.program.instructions[value - self.first] if value >= self.first else None

    def root(self, value: int) -> _Root:
        """The end of the chain of views at a value."""
        is_direct, is_broadcast = True, True
        while True:
            instruction = self.instruction(value)
            if instruction is None or instruction.primitive.kind != "view" or value in self.copied:
                return _Root(value, is_direct, is_broadcast)
            is_direct = False
            is_broadcast = is_broadcast and instruction.primitive is ops.broadcast
            value = instruction.operands[0]

    def group_at(self, value: int) -> int | None:
        """The group that computes a value, or None for inputs, views and creation ops."""
        return self.group_of[value - self.first] if value >= self.first else None

    # Growth

    def _place(self, number: int) -> None:
        instruction = self.program.instructions[number]
        kind = instruction.primitive.kind
        value = self.first + number
        if value in self.copied:
            self._start(number, instruction.type.shape, None, "copy")
        elif kind == "contraction":
            self._start(number, instruction.type.shape, None, "contraction")
        elif kind == "scan":
            self._start(number, instruction.type.shape, axes_of(instruction), "scan")
        elif instruction.primitive is ops.slice_update:
            self._start_update(number)
        elif kind == "elementwise":
            self._grow(number, instruction.type.shape, None)
        elif kind == "reduction":
            domain = self.program.type_of(instruction.operands[0]).shape
            self._grow(number, domain, axes_of(instruction))

    def _start(self, number: int, domain: Shape, axes: tuple[int, ...] | None, kind: str) -> int:
        group = Group([number], domain, axes, kind, self._weight(number))
        self.groups.append(group)
        self.order.append()
        self.group_of[number] = len(self.groups) - 1
        self._connect(number, group)
        return len(self.groups) - 1

    def _start_update(self, number: int) -> None:
        """An update, with what computes the new elements if that writes them in place."""
        target, update = self._operands(number)
        shape = self.program.type_of(update).shape
        home = self._start(number, shape, None, "update")
        root = self.root(update)
        producer = self.group_at(root.value)
        if producer is None or not root.is_direct:
            return
        if producer != self.group_at(self.root(target).value):
            self._merge(producer, home)

    def _connect(self, number: int, group: Group) -> None:
        """Adds what an instruction reads from outside its group."""
        own = self.first + number
        if own in self.copied and self._is_buffer(own):
            group.reads.add(own)
        for operand in self._operands(number):
            root = self.root(operand)
            other = self.group_at(root.value)
            if other is None:
                if self._is_buffer(root.value):
                    group.reads.add(root.value)
            elif self.groups[other] is not group:
                group.reads.add(root.value)
                group.producers.add(other)
                if not (root.is_direct or root.is_broadcast):
                    group.opaque.add(other)

    def _operands(self, number: int) -> tuple[int, ...]:
        return self.program.instructions[number].operands

    def _is_buffer(self, value: int) -> bool:
        instruction = self.instruction(value)
        if instruction is None or instruction.primitive is ops.empty:
            return True
        return instruction.primitive is ops.constant and is_lifted(*instruction.attributes)

    def _weight(self, number: int) -> int:
        name = self.program.instructions[number].primitive.name
        return weight_of((name,))

    def _grow(self, number: int, domain: Shape, axes: tuple[int, ...] | None) -> None:
        """Puts an op into the groups of its operands where it fits, or into one of its own."""
        instruction = self.program.instructions[number]
        kind = "reduction" if axes is not None else "loop"
        candidates: list[int] = []
        for operand in instruction.operands:
            root = self.root(operand)
            group = self.group_at(root.value)
            if group is not None and group not in candidates and self._edge_fuses(
                root, operand, group, axes is not None
            ):  # fmt: skip
                candidates.append(group)
        home = self._start(number, domain, axes, kind)
        for candidate in sorted(candidates, reverse=True):
            if candidate != home:
                merged = self._merge(candidate, home)
                home = home if merged is None else merged

    def _edge_fuses(self, root: _Root, operand: int, number: int, is_reduced: bool) -> bool:
        """True if an operand may be a value of the group rather than a read of memory."""
        group = self.groups[number]
        assert group is not None
        if not group.can_grow:
            return False
        produced = self.program.type_of(root.value).shape
        seen = self.program.type_of(operand).shape
        if root.is_direct:
            return produced == group.domain or (produced == group.unit_shape and not is_reduced)
        if group.axes is None or not root.is_broadcast or is_reduced:
            return False
        return produced == group.unit_shape and seen == group.domain

    def _merge(self, a: int, b: int) -> int | None:
        """Merges group ``b`` into group ``a`` if one kernel can do both; ``a``, or None."""
        one, two = self.groups[a], self.groups[b]
        assert one is not None
        assert two is not None
        shape = self._shared_domain(one, two)
        weight = one.weight + two.weight
        if shape is None or weight > MAXIMUM_WEIGHT or a in two.opaque or b in one.opaque:
            return None
        between = self.order.between(a, b, self._producers, SEARCH_LIMIT)
        if between is None:
            return None
        domain, axes = shape
        reads = self._joint_reads(one, two, a, b)
        if len(reads) > MAXIMUM_BUFFERS:
            return None
        if axes is not None and not self._is_allowed(one, two, domain, axes):
            return None
        one.domain, one.axes, one.weight, one.reads = domain, axes, weight, reads
        if two.kind == "update" or axes is not None:
            one.kind = "reduction" if axes is not None else "update"
        if one.members[-1] < two.members[0]:
            one.members.extend(two.members)
        else:
            one.members = sorted((*one.members, *two.members))
        one.producers |= two.producers
        one.producers -= {a, b}
        one.opaque |= two.opaque
        self.groups[b] = None
        self.order.merge(a, b, between)
        for member in two.members:
            self.group_of[member] = a
            for user in self.users[self.first + member]:
                self._redirect(user, b, a)
        return a

    def _producers(self, number: int) -> set[int]:
        group = self.groups[number]
        assert group is not None
        return group.producers

    def _joint_reads(self, one: Group, two: Group, a: int, b: int) -> set[int]:
        """What both groups read from outside of the two."""
        inner = (a, b)
        return {value for value in one.reads | two.reads if self.group_at(value) not in inner}

    def _redirect(self, user: int, old: int, new: int) -> None:
        """Tells the group of an instruction, seen through views, that a producer was merged."""
        for instruction in self._seen_by(user):
            number = self.group_of[instruction]
            if number is None:
                continue
            group = self.groups[number]
            if group is not None and old in group.producers:
                group.producers.discard(old)
                if number != new:
                    group.producers.add(new)
                if old in group.opaque:
                    group.opaque.discard(old)
                    group.opaque.add(new)

    def _shared_domain(self, one: Group, two: Group) -> tuple[Shape, tuple[int, ...] | None] | None:
        """The domain and axes of both groups as one, or None if they differ."""
        if (one.kind, two.kind) in (("loop", "update"), ("contraction", "loop")):
            return (one.domain, None) if one.domain == two.domain else None
        if not (one.can_grow and two.can_grow):
            return None
        if one.axes is None and two.axes is None:
            return (one.domain, None) if one.domain == two.domain else None
        reduced = one if one.axes is not None else two
        other = two if reduced is one else one
        if other.axes is not None:
            same = other.axes == reduced.axes and other.domain == reduced.domain
            return (reduced.domain, reduced.axes) if same else None
        if other.domain not in (reduced.domain, reduced.unit_shape):
            return None
        return reduced.domain, reduced.axes

    def _has_full_output(
        self, members: Iterable[int], domain: Shape, axes: tuple[int, ...]
    ) -> bool:
        """True if a member spans the whole domain and is needed outside of the members."""
        inside = set(members)
        if all(domain[axis] == 1 for axis in axes):
            return False
        for member in inside:
            value = self.first + member
            if self.program.type_of(value).shape == domain and self.is_needed(value, inside):
                return True
        return False

    def is_needed(self, value: int, inside: set[int]) -> bool:
        """True if the program returns a value or uses it, seen through views, outside."""
        if value in self.outputs:
            return True
        return any(
            reader not in inside or self._is_returned_view(reader)
            for user in self.users[value]
            for reader in self._seen_by(user)
        )

    def _is_returned_view(self, number: int) -> bool:
        is_view = self.program.instructions[number].primitive.kind == "view"
        return is_view and self.first + number in self.outputs

    def _seen_by(self, user: int) -> list[int]:
        """The ops that a user is or, if it is a view, feeds; views that are returned too."""
        readers: list[int] = []
        seen = {user}
        stack = [user]
        while stack:
            number = stack.pop()
            value = self.first + number
            is_view = self.program.instructions[number].primitive.kind == "view"
            if not is_view or value in self.copied or value in self.outputs:
                readers.append(number)
            if is_view and value not in self.copied:
                for further in self.users[value]:
                    if further not in seen:
                        seen.add(further)
                        stack.append(further)
        return readers

    def _is_allowed(self, one: Group, two: Group, domain: Shape, axes: tuple[int, ...]) -> bool:
        """Rows must fit a unit; long reductions must stay free to be split."""
        row = prod(domain[axis] for axis in axes)
        units = prod(domain) // max(row, 1)
        if row <= (ROW_CHUNK if units < FEW_UNITS else ROW_LIMIT):
            return True
        return not self._has_full_output((*one.members, *two.members), domain, axes)

    # Siblings

    def _join_siblings(self) -> None:
        """Merges groups over one domain that read the same buffer."""
        readers: dict[tuple[int, Shape], list[int]] = {}
        for number, group in enumerate(self.groups):
            if group is not None and group.can_grow:
                for value in sorted(group.reads):
                    if prod(self.program.type_of(value).shape) > 1:
                        readers.setdefault((value, group.domain), []).append(number)
        for numbers in readers.values():
            home: int | None = None
            for number in numbers:
                if self.groups[number] is None:
                    continue
                if home is None or self.groups[home] is None:
                    home = number
                elif number != home:
                    merged = self._merge(home, number)
                    home = merged if merged is not None else number

    def _join_epilogues(self) -> None:
        """Lets a contraction finish with the one group that uses its result."""
        for number, group in enumerate(self.groups):
            if group is None or group.kind != "contraction":
                continue
            value = self.first + group.members[0]
            users = {self.group_of[user] for user in self.users[value]}
            if value in self.outputs or len(users) != 1:
                continue
            (user,) = users
            other = None if user is None else self.groups[user]
            if other is None or user is None or other.kind != "loop":
                continue
            if other.domain == group.domain and number not in other.opaque:
                self._merge(number, user)

    def ordered(self) -> list[Group]:
        """The groups so that producers come first."""
        order: list[Group] = []
        state: dict[int, bool] = {}
        for start, group in enumerate(self.groups):
            stack = [start] if group is not None and start not in state else []
            while stack:
                number = stack[-1]
                entry = self.groups[number]
                assert entry is not None
                if number not in state:
                    state[number] = False
                    waiting = [p for p in sorted(entry.producers) if p not in state]
                    if waiting:
                        stack.extend(reversed(waiting))
                        continue
                stack.pop()
                if not state[number]:
                    state[number] = True
                    order.append(entry)
        return order


def _users(program: Program) -> dict[int, list[int]]:
    """For each value the instructions that use it."""
    users: dict[int, list[int]] = {
        value: [] for value in range(len(program.inputs) + len(program.instructions))
    }
    for number, instruction in enumerate(program.instructions):
        for operand in set(instruction.operands):
            users[operand].append(number)
    return users


def _copies(program: Program) -> set[int]:
    """Views and creation ops that must become dense buffers of their own."""
    first = len(program.inputs)
    copied: set[int] = set()
    seen: dict[int, views.View | None] = {}

    def view_of(value: int) -> views.View:
        known = seen.get(value)
        return known if known is not None else views.dense(program.type_of(value).shape)

    for number, (primitive, operands, attributes, _) in enumerate(program.instructions):
        value = first + number
        if primitive is ops.matmul:
            copied.update(o for o in operands if matrix_of(view_of(o)) is None)
            copied.update(o for o in operands if _is_made(program, o))
        if primitive.kind != "view":
            continue
        view = views.apply(primitive, view_of(operands[0]), attributes)
        if view is None:
            copied.add(operands[0])
            seen[operands[0]] = None
            whole = views.dense(program.type_of(operands[0]).shape)
            view = views.apply(primitive, whole, attributes)
        seen[value] = view
    for value in program.outputs:
        if _needs_copy(program, value, copied):
            copied.add(value)
    return copied


def _is_made(program: Program, value: int) -> bool:
    """True if views alone lie between a value and a creation op."""
    first = len(program.inputs)
    while value >= first and program.instructions[value - first].primitive.kind == "view":
        value = program.instructions[value - first].operands[0]
    return value >= first and program.instructions[value - first].primitive.kind == "creation"


def _needs_copy(program: Program, value: int, copied: set[int]) -> bool:
    """True if an output is a creation op or a view that is not a reshape of a whole buffer."""
    first = len(program.inputs)
    while value >= first and value not in copied:
        instruction = program.instructions[value - first]
        if instruction.primitive.kind == "creation":
            return True
        if instruction.primitive.kind != "view":
            return False
        if instruction.primitive is not ops.reshape:
            return True
        value = instruction.operands[0]
    return False
