"""One worklist, and patterns that are looked up by the op at their root.

A pattern is a function of a root op and a :class:`Rewriter`. It returns the value that replaces the
root, or None where it does not apply::

    @pattern(ops.negative)
    def negative_of_negative(op: Op, rewriter: Rewriter) -> Op | None:
        (inner,) = op.operands
        return inner.operands[0] if inner.primitive is ops.negative else None

New ops are made by the rewriter and stand right before the root; no op is changed in place. Every
pattern must make progress: towards fewer or cheaper ops, or views closer to the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...dialects import ops
from ...dialects.dtypes import DType
from ...dialects.primitive import Attributes, Primitive, Shape, TensorType

if TYPE_CHECKING:
    from .dataflow import Dataflow, Op

    Pattern = Callable[[Op, "Rewriter"], Op | None]
    Patterns = Mapping[Primitive, Sequence[Pattern]]

PATTERNS: dict[Primitive, list[Pattern]] = {}
"""The patterns of ``canonicalize``, by root, in the order in which they are tried."""


def pattern(*roots: Primitive) -> Callable[[Pattern], Pattern]:
    """Adds the decorated function to the patterns of ``canonicalize`` for these roots."""

    def add(function: Pattern) -> Pattern:
        for root in roots:
            PATTERNS.setdefault(root, []).append(function)
        return function

    return add


LOOK_THROUGH = 4
"""Views that :func:`splat_of` looks through; merged views need no more than two."""

WIDE = 8
"""Operands beyond which an op is looked at last."""


FEW = 8
"""Users up to which those of a changed op's users are looked at again."""

VIEWS = (ops.reshape, ops.transpose, ops.broadcast, ops.slice_)


class Rewriter:
    """Applies patterns to a function until none applies.

    Attributes:
        root: the op that patterns look at now.
        moves: how many ops views may still be moved over; it bounds the cost of moving to a
            multiple of the function's size.
    """

    def __init__(self, flow: Dataflow, patterns: Patterns) -> None:
        self.flow = flow
        self.root: Op
        self._patterns = patterns
        self._worklist: list[Op] = []
        self._wide: list[Op] = []
        for op in flow.ops():
            self._push(op)
        size = len(self._worklist) + len(self._wide)
        self.moves = 1000 + 4 * size
        self._rewrites = 1000 + 100 * size

    # What patterns use

    def create(
        self,
        primitive: Primitive,
        operands: Sequence[Op],
        attributes: Attributes = (),
        *,
        like: Op | None = None,
    ) -> Op:
        """A new op before the root, located where ``like`` (else the root) is."""
        location = self.flow.location_of(like) if like is not None else None
        op = self.flow.create(primitive, operands, attributes, self.root, location=location)
        self._push(op)
        return op

    def constant(self, value: Any, dtype: DType) -> Op:
        """A new scalar constant before the root."""
        return self.create(ops.constant, (), (value, dtype))

    def splat(self, value: Any, type_: TensorType) -> Op:
        """A constant of any shape: a scalar, reshaped to size 1 along each axis, broadcast."""
        return self.expand(self.constant(value, type_.dtype), type_.shape)

    def expand(self, operand: Op, shape: Shape) -> Op:
        """A value of one element repeated to a shape."""
        ones = (1,) * len(shape)
        if operand.type.shape != ones:
            operand = self.create(ops.reshape, [operand], (ones,))
        return operand if shape == ones else self.create(ops.broadcast, [operand], (shape,))

    # The worklist

    def run(self) -> None:
        """Applies patterns, users before what they use, until none applies.

        Moving a view towards the inputs meets the next view before that one moves, so stacks of
        them cost no more than one. Should patterns undo each other's work, the run ends after a
        number of rewrites that is far beyond what others need; the function is valid throughout.
        """
        worklist, wide = self._worklist, self._wide
        while (worklist or wide) and self._rewrites:
            op = worklist.pop() if worklist else wide.pop()
            if not op.is_queued or not op.is_alive:
                continue
            op.is_queued = False
            if not op.users:
                self._erase(op)
                continue
            assert op.primitive is not None
            for apply in self._patterns.get(op.primitive, ()):
                self.root = op
                replacement = apply(op, self)
                if replacement is not None:
                    self._rewrites -= 1
                    self._replace(op, replacement)
                    break

    def _push(self, op: Op) -> None:
        """Puts an op on top, where it is looked at next; its older entries are skipped."""
        if op.primitive is not None:
            op.is_queued = True
            # An op with many operands waits for them, rather than being looked at after each.
            (self._worklist if len(op.operands) <= WIDE else self._wide).append(op)

    def _replace(self, op: Op, replacement: Op) -> None:
        users = list(op.users)
        self.flow.replace(op, replacement)
        for user in users:
            self._push(user)
        self._push_beyond(users)
        self._push(replacement)
        self._erase(op)

    def _push_beyond(self, users: Sequence[Op]) -> None:
        """Puts on top what looks at a changed value through one op, or through views."""
        for _ in range(LOOK_THROUGH):
            beyond = [further for user in users if len(user.users) <= FEW for further in user.users]
            for further in beyond:
                self._push(further)
            users = [further for further in beyond if further.primitive in VIEWS]

    def _erase(self, op: Op) -> None:
        """Erases an op and what only it used, and looks again at the users it alone kept apart."""
        dead = [op]
        while dead:
            current = dead.pop()
            if not current.is_alive:
                continue
            for operand in self.flow.erase(current):
                if operand.single_user is not None:
                    self._push(operand.single_user)
                elif not operand.users and operand.primitive is not None:
                    dead.append(operand)


# What patterns ask


def splat_of(op: Op) -> Op | None:
    """The constant whose value every element has, or None. Lifted constants do not count."""
    for _ in range(LOOK_THROUGH):
        if op.primitive is ops.constant:
            return op if op.literal is None else None
        if op.primitive is None or op.primitive.kind != "view":
            return None
        op = op.operands[0]
    return None


def is_splat(op: Op, value: Any) -> bool:
    """True if every element is the constant ``value``; 0 stands for 0.0 but not for -0.0."""
    constant = splat_of(op)
    if constant is None:
        return False
    given = constant.attributes[0]
    return bool(given == value) and not (value == 0 and is_negative_zero(given))


def is_negative_zero(value: Any) -> bool:
    """True for the float -0.0."""
    return isinstance(value, float) and value == 0 and str(value)[0] == "-"


def dtype_of(op: Op) -> DType:
    """The dtype of an array value."""
    return op.type.dtype


def shape_of(op: Op) -> Shape:
    """The shape of an array value."""
    return op.type.shape
