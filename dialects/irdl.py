"""The IRDL definition of the ``array`` dialect, generated from the op table.

IRDL checks arity, the presence of attributes and their kinds. Shape and type rules are checked by
:mod:`lamina.dialects.verifier`. IRDL cannot say that an op takes operands of several types in any
number: a constraint stands for one type. Such an op is declared for each number of operands as it
is met, ``array.concatenate_3`` for three. This module does not import MLIR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import ops as _ops  # noqa: F401  (fills the table)
from .primitive import TABLE, Primitive

NAMESPACE = "array"

TENSOR = 'irdl.base "!builtin.tensor"'
ATTRIBUTE_CONSTRAINTS = {
    "int": 'irdl.base "#builtin.integer"',
    "ints": 'irdl.base "#builtin.dense_array"',
    "bool": 'irdl.base "#builtin.integer"',
    "dtype": 'irdl.base "#builtin.type"',
    "scalar": "irdl.any",
    "symbol": 'irdl.base "#builtin.symbol_ref"',
    "array": 'irdl.base "#builtin.array"',
}


class StructuralOp(NamedTuple):
    """An op of the later stages, without operands and results: it names what it works on.

    Attributes:
        name: ``array.<name>`` in MLIR.
        attributes: pairs of name and kind; there may be more.
        meaning: a paragraph on semantics.
    """

    name: str
    attributes: tuple[tuple[str, str], ...]
    meaning: str


LAUNCH = StructuralOp(
    "launch",
    (("kernel", "symbol"), ("arguments", "array"), ("units", "int"), ("grain", "int")),
    """The launch of a lowered kernel over independent units of work, a grain of them a thread at a
    time. Arguments are the words of the kernel's table: integers, or buffers by name with an
    offset in bytes.""",
)
STRUCTURAL: dict[str, StructuralOp] = {op.name: op for op in (LAUNCH,)}
"""The structural ops by name."""


def op_name(primitive: Primitive, count: int) -> str:
    """The name of the MLIR op of a primitive with ``count`` operands."""
    suffix = f"_{count}" if primitive.is_variadic else ""
    return f"{NAMESPACE}.{primitive.name}{suffix}"


def definition() -> str:
    """The dialect as the text of an IRDL module."""
    lines = [f"irdl.dialect @{NAMESPACE} {{"]
    for primitive in TABLE.values():
        if not primitive.is_variadic:
            lines += _operation(
                primitive.name, primitive.operands, ("result",), primitive.attributes
            )
    for op in STRUCTURAL.values():
        lines += _operation(op.name, (), (), op.attributes)
    lines.append("}")
    return "\n".join(lines)


def variadic_definition(primitive: Primitive, count: int) -> str:
    """A variadic primitive with ``count`` operands as the text of an IRDL module."""
    name = op_name(primitive, count).partition(".")[2]
    operands = [f"operand{i}" for i in range(count)]
    lines = _operation(name, operands, ("result",), primitive.attributes)
    return "\n".join([f"irdl.dialect @{NAMESPACE} {{", *lines, "}"])


def _operation(
    name: str,
    operands: Sequence[str],
    results: Sequence[str],
    attributes: Sequence[tuple[str, str]],
) -> list[str]:
    """The lines of one op. A constraint stands for one type or attribute, so none is shared."""
    lines = [f"  irdl.operation @{name} {{"]
    for kind, values in (("operands", operands), ("results", results)):
        lines += [f"    %{kind}{i} = {TENSOR}" for i in range(len(values))]
        if values:
            named = ", ".join(f"{value}: %{kind}{i}" for i, value in enumerate(values))
            lines.append(f"    irdl.{kind}({named})")
    for i, (_, kind) in enumerate(attributes):
        lines.append(f"    %attribute{i} = {ATTRIBUTE_CONSTRAINTS[kind]}")
    if attributes:
        named = ", ".join(f'"{key}" = %attribute{i}' for i, (key, _) in enumerate(attributes))
        lines.append(f"    irdl.attributes {{{named}}}")
    return [*lines, "  }"]
