"""A function's ops as Python objects that are quick to walk and to rewrite.

Asking MLIR for an op's operands, users or attributes costs microseconds a question, so passes that
look at every op many times read a function once, work on :class:`Op` objects, and write back what
changed. Untouched ops stay the MLIR ops they were, with their order, locations and attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mlir import ir

from ...dialects import encoding
from ...dialects.encoding import decode_attributes, decode_type
from ...dialects.mlir import LITERAL, PRIMITIVES, op_name
from ...dialects.primitive import Attributes, Primitive, TensorType
from ...errors import VerificationError


class Op:
    """A value and the op that defines it, or an op that is not a primitive.

    Attributes:
        primitive: the op's primitive; None for block arguments, for ops that are not primitives
            (which are only users here), and for the results of those.
        operands: the operands, one entry a use. For ops that are not primitives: what they used
            when they were read.
        attributes: the attribute values, in the primitive's order.
        type: the value's type; None if it is no array, as no operand of a primitive is.
        literal: the slot of a lifted constant, whose value passes must not look at; else None.
        users: the ops that use the value, with the number of times.
        block: the block the op stands in; None for block arguments.
    """

    __slots__ = (
        "_handle", "_index", "_operation", "_point", "attributes", "block", "is_alive", "is_queued",
        "is_settled", "literal", "location", "next", "operands", "previous", "primitive",
        "replacement", "type", "users",
    )  # fmt: skip

    def __init__(
        self,
        primitive: Primitive | None,
        operands: list[Op],
        attributes: Attributes,
        type_: TensorType | Any,
        block: Block | None,
    ) -> None:
        self.primitive = primitive
        self.operands = operands
        self.attributes = attributes
        self.type: TensorType = type_
        self.block = block
        self.users: dict[Op, int] = {}
        self.literal: int | None = None
        self.location: ir.Location | None = None
        self.replacement: Op | None = None
        self.is_alive = True
        self.is_queued = False
        self.is_settled = False
        self.previous: Op | None = None
        self.next: Op | None = None
        self._handle: ir.Value | None = None
        self._operation: ir.Operation | None = None
        self._point: ir.Operation | None = None
        self._index = 0

    @property
    def single_user(self) -> Op | None:
        """The one op that uses the value, however many times; None if there are none or more."""
        if len(self.users) != 1:
            return None
        (user,) = self.users
        return user

    def __repr__(self) -> str:
        name = repr(self.primitive) if self.primitive else "other op or argument"
        return f"<{name}: {self.type}>"


class Block:
    """The ops of one MLIR block, a doubly linked list."""

    __slots__ = ("first", "last")

    def __init__(self) -> None:
        self.first: Op | None = None
        self.last: Op | None = None

    def __iter__(self) -> Iterator[Op]:
        op = self.first
        while op is not None:
            following = op.next
            yield op
            op = following

    def append(self, op: Op) -> None:
        """Puts an op at the end."""
        op.previous, op.next = self.last, None
        if self.last is None:
            self.first = op
        else:
            self.last.next = op
        self.last = op

    def insert_before(self, op: Op, place: Op) -> None:
        """Puts an op right before another one."""
        op.previous, op.next = place.previous, place
        if place.previous is None:
            self.first = op
        else:
            place.previous.next = op
        place.previous = op

    def remove(self, op: Op) -> None:
        """Takes an op out."""
        if op.previous is None:
            self.first = op.next
        else:
            op.previous.next = op.next
        if op.next is None:
            self.last = op.previous
        else:
            op.next.previous = op.previous


class Dataflow:
    """The ops of a function (or of any op with regions) and who uses what.

    Every change goes through :meth:`create`, :meth:`replace` and :meth:`erase`; :meth:`write`
    brings them into the MLIR function.
    """

    def __init__(self, root: ir.Operation) -> None:
        self.blocks: list[Block] = []
        self._values: dict[ir.Value, Op] = {}
        self._replaced: list[Op] = []
        self._erased: list[Op] = []
        self._read(root)

    # Reading

    def _read(self, root: ir.Operation) -> None:
        """Reads all blocks, outer ones first."""
        pending: list[tuple[Op, ir.Operation]] = []
        stack = [root]
        while stack:
            for region in stack.pop().regions:
                for mlir_block in region.blocks:
                    block = Block()
                    self.blocks.append(block)
                    for argument in mlir_block.arguments:
                        self._define(argument, None)
                    for view in mlir_block.operations:
                        operation = view.operation
                        op = self._read_op(operation, block)
                        pending.append((op, operation))
                        if op.primitive is None and len(operation.regions):
                            stack.append(operation)
        values = self._values
        for index, (op, operation) in enumerate(pending):
            op._index = index
            for operand in operation.operands:
                used = values.get(operand)
                if used is None:
                    used = self._define(operand, None)
                op.operands.append(used)
                used.users[op] = used.users.get(op, 0) + 1

    def _define(self, handle: ir.Value, block: Block | None) -> Op:
        try:
            type_ = decode_type(handle.type)
        except VerificationError:
            type_ = None
        value = Op(None, [], (), type_, block)
        value._handle = handle
        self._values[handle] = value
        return value

    def _read_op(self, operation: ir.Operation, block: Block) -> Op:
        primitive = PRIMITIVES.get(operation.name)
        if primitive is None:
            op = Op(None, [], (), None, block)
            for result in operation.results:
                self._define(result, block)
        else:
            handle = operation.result
            named = operation.attributes
            attributes = decode_attributes(primitive, named)
            op = Op(primitive, [], attributes, decode_type(handle.type), block)
            if len(named) != len(primitive.attributes) and LITERAL in named:
                op.literal = ir.IntegerAttr(named[LITERAL]).value
            op._handle = handle
            self._values[handle] = op
        op._operation = operation
        block.append(op)
        return op

    def ops(self) -> Iterator[Op]:
        """Every op, block by block, in order."""
        for block in self.blocks:
            yield from block

    # Changes

    def create(
        self,
        primitive: Primitive,
        operands: Sequence[Op],
        attributes: Attributes,
        before: Op,
        *,
        location: ir.Location | None = None,
    ) -> Op:
        """A new op right before another one, whose location it takes unless one is given.

        Its type is what the primitive's rule says; the rule's errors are raised.
        """
        types = tuple([operand.type for operand in operands])
        type_ = primitive.rule(types, attributes)
        op = Op(primitive, list(operands), attributes, type_, before.block)
        op.location = location or self.location_of(before)
        for operand in operands:
            operand.users[op] = operand.users.get(op, 0) + 1
        assert before.block is not None
        before.block.insert_before(op, before)
        return op

    def location_of(self, op: Op) -> ir.Location | None:
        """Where an op came from."""
        if op.location is None and op._operation is not None:
            op.location = op._operation.location
        return op.location

    def replace(self, old: Op, new: Op) -> None:
        """Makes every user of ``old`` use ``new``; ``old`` stays until it is erased."""
        assert old is not new
        for user, count in old.users.items():
            new.users[user] = new.users.get(user, 0) + count
            if user.primitive is not None:
                operands = user.operands
                for _ in range(count):
                    operands[operands.index(old)] = new
        old.users = {}
        old.replacement = new
        if old._handle is not None:
            self._replaced.append(old)

    def erase(self, op: Op) -> Iterable[Op]:
        """Removes a primitive without users; gives its operands, now with fewer users."""
        assert op.is_alive, op
        assert op.primitive is not None, op
        assert not op.users, op
        op.is_alive = False
        assert op.block is not None
        op.block.remove(op)
        if op._operation is not None:
            self._erased.append(op)
        for operand in op.operands:
            operand.users.pop(op, None)
        return op.operands

    # Writing

    def write(self) -> bool:
        """Brings the changes into MLIR; True if there were any."""
        for block in self.blocks:
            self._write_block(block)
        changed = bool(self._replaced or self._erased)
        for old in self._replaced:
            new = _resolve(old)
            assert old._handle is not None
            # What replaced it may have died since, with all its users.
            if new._handle is not None:
                old._handle.replace_all_uses_with(new._handle)
        self._erase_from_mlir()
        self._replaced, self._erased = [], []
        return changed

    def _erase_from_mlir(self) -> None:
        """Erases users before what they use, which is MLIR's rule."""
        waiting = sorted(self._erased, key=lambda op: op._index)
        is_straight = len(self.blocks) == 1
        while waiting:
            # Blocks need not stand in the order of dominance; several rounds get there.
            used: list[Op] = []
            while waiting:
                op = waiting.pop()
                assert op._operation is not None
                if is_straight or not any(any(result.uses) for result in op._operation.results):
                    op._operation.erase()
                else:
                    used.append(op)
            waiting = used[::-1]

    def _write_block(self, block: Block) -> None:
        point: ir.Operation | None = None
        created: list[Op] = []
        op = block.last
        while op is not None:
            if op._operation is not None:
                point = op._operation
            else:
                op._point = point
                created.append(op)
            op = op.previous
        for op in reversed(created):
            stack = [op]
            while stack:
                top = stack[-1]
                missing = [operand for operand in top.operands if operand._handle is None]
                if missing:
                    stack += missing
                    continue
                stack.pop()
                if top._handle is None:
                    _write_op(top)


def _write_op(op: Op) -> None:
    point = op._point
    assert op.primitive is not None
    assert point is not None, "a block without a terminator"
    attributes = encoding.encode_attributes(op.primitive, op.attributes)
    if op.literal is not None:
        attributes[LITERAL] = encoding.encode_attribute("int", op.literal)
    created = ir.Operation.create(
        op_name(op.primitive, len(op.operands)),
        results=[encoding.tensor_type(op.type)],
        operands=[operand._handle for operand in op.operands],
        attributes=attributes,
        loc=op.location,
        ip=ir.InsertionPoint(point),
    )
    op._operation = created
    op._handle = created.result


def _resolve(op: Op) -> Op:
    """What an op was replaced by in the end."""
    end = op
    while end.replacement is not None:
        end = end.replacement
    while op.replacement is not None:
        op.replacement, op = end, op.replacement
    return end


def functions(op: ir.Operation) -> Iterator[ir.Operation]:
    """The functions directly in a module, or the op itself if it is none."""
    if op.name != "builtin.module":
        yield op
        return
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                if len(view.operation.regions):
                    yield view.operation
