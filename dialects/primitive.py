"""What a primitive is: the declarative form every op of the ``array`` dialect is written in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .dtypes import DType

Shape = tuple[int, ...]
Attributes = tuple[Any, ...]
"""Attribute values in the order of :attr:`Primitive.attributes`; hashable and canonical."""


class TensorType(NamedTuple):
    """The type of a value: its shape and its dtype."""

    shape: Shape
    dtype: DType

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def nbytes(self) -> int:
        """The bytes of a dense buffer of this type."""
        return self.size * self.dtype.size

    def __str__(self) -> str:
        return f"{self.dtype.short}[{','.join(map(str, self.shape))}]"


TypeRule = Callable[[tuple[TensorType, ...], Attributes], TensorType]


@dataclass(frozen=True, eq=False, slots=True)
class Primitive:
    """An op of the ``array`` dialect, declared once in :mod:`lamina.dialects.ops`.

    Attributes:
        name: the op's name; ``array.<name>`` in MLIR.
        operands: operand names; a single name that starts with ``*`` is variadic.
        attributes: pairs of attribute name and kind; kinds are ``"int"``, ``"ints"``, ``"bool"``,
            ``"dtype"`` and ``"scalar"``.
        rule: the type rule; it raises a ShapeError, DTypeError or ArgumentError that says what
            was wrong, without the op's name, which the caller adds.
        kind: what fusion and the schedules see: ``"elementwise"``, ``"reduction"``, ``"view"``,
            ``"creation"``, ``"scan"``, ``"contraction"`` or ``"update"``.
        traits: facts about the op, such as ``"commutative"``, ``"idempotent"``, ``"comparison"``.
        meaning: a paragraph on semantics, with its source.
    """

    name: str
    operands: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    rule: TypeRule
    kind: str
    traits: frozenset[str]
    meaning: str

    @property
    def is_variadic(self) -> bool:
        """True if the op takes any number of operands."""
        return len(self.operands) == 1 and self.operands[0].startswith("*")

    def __repr__(self) -> str:
        return f"array.{self.name}"

    def __reduce__(self) -> Any:
        return (lookup, (self.name,))


TABLE: dict[str, Primitive] = {}
"""Every primitive by name, in order of declaration."""


def declare(
    name: str,
    operands: tuple[str, ...],
    rule: TypeRule,
    kind: str,
    meaning: str,
    *,
    attributes: tuple[tuple[str, str], ...] = (),
    traits: tuple[str, ...] = (),
) -> Primitive:
    """Declares a primitive, enters it into the table and returns it."""
    if name in TABLE:
        raise ValueError(f"array.{name} is declared twice")
    primitive = Primitive(
        name, operands, attributes, rule, kind, frozenset(traits), " ".join(meaning.split())
    )
    TABLE[name] = primitive
    return primitive


def lookup(name: str) -> Primitive:
    """The primitive called ``name``; raises KeyError for an unknown name."""
    return TABLE[name]
