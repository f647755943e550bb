"""The IRDL definition of the ``array`` dialect, generated from the op table.

IRDL checks arity, the presence of attributes and their kinds. Shape and type rules are checked by
:mod:`lamina.dialects.verifier`. This module does not import MLIR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import ops as _ops  # noqa: F401  (fills the table)
from .primitive import TABLE

NAMESPACE = "array"

TENSOR = 'irdl.base "!builtin.tensor"'
ATTRIBUTE_CONSTRAINTS = {
    "int": 'irdl.base "#builtin.integer"',
    "ints": 'irdl.base "#builtin.dense_array"',
    "bool": 'irdl.base "#builtin.integer"',
    "dtype": 'irdl.base "#builtin.type"',
    "scalar": "irdl.any",
    "symbol": 'irdl.base "#builtin.symbol_ref"',
    "string": 'irdl.base "#builtin.string"',
}


class StructuralOp(NamedTuple):
    """An op of the later stages: it stands for work that passes have grouped or placed.

    Attributes:
        name: ``array.<name>`` in MLIR.
        operands, results: names with their variadicity, ``*`` in front for any number.
        attributes: pairs of name and kind; more attributes may be attached.
        is_pure: True if the op only computes its results, so that it may be merged or dropped.
        meaning: a paragraph on semantics.
    """

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    is_pure: bool
    meaning: str


FUSION = StructuralOp(
    "fusion",
    ("*inputs",),
    ("*outputs",),
    (("body", "symbol"), ("kind", "string")),
    True,
    "The function named by body, applied to the operands, as one kernel. Kinds are loop, row, "
    "reduction, contraction and those that plug-ins add; they say how a schedule places the work.",
)
LAUNCH = StructuralOp(
    "launch",
    ("*operands",),
    ("*results",),
    (("kernel", "symbol"),),
    False,
    "A launch of a lowered kernel on buffers; passes neither merge nor drop it.",
)
STRUCTURAL: dict[str, StructuralOp] = {op.name: op for op in (FUSION, LAUNCH)}
"""The structural ops by name."""

FUSION_KINDS = ("loop", "row", "reduction", "contraction", "scatter")
"""The kinds of ``array.fusion`` that Lamina's own passes make."""


def definition() -> str:
    """The dialect as the text of an IRDL module."""
    lines = [f"irdl.dialect @{NAMESPACE} {{"]
    for primitive in TABLE.values():
        lines += _operation(
            primitive.name,
            primitive.operands,
            ("result",),
            primitive.attributes,
            TENSOR,
        )
    for op in STRUCTURAL.values():
        lines += _operation(op.name, op.operands, op.results, op.attributes, "irdl.any")
    lines.append("}")
    return "\n".join(lines)


def _operation(
    name: str,
    operands: Sequence[str],
    results: Sequence[str],
    attributes: Sequence[tuple[str, str]],
    value_constraint: str,
) -> list[str]:
    """The lines of one op. A constraint variable stands for one type, so none is shared."""
    lines = [f"  irdl.operation @{name} {{"]

    def values(kind: str, names: Sequence[str]) -> None:
        entries = []
        for i, value in enumerate(names):
            lines.append(f"    %{kind}{i} = {value_constraint}")
            variadic = "variadic " if value.startswith("*") else ""
            entries.append(f"{value.lstrip('*')}: {variadic}%{kind}{i}")
        if entries:
            lines.append(f"    irdl.{kind}({', '.join(entries)})")

    values("operands", operands)
    values("results", results)
    if attributes:
        entries = []
        for i, (attribute, kind) in enumerate(attributes):
            lines.append(f"    %attribute{i} = {ATTRIBUTE_CONSTRAINTS[kind]}")
            entries.append(f'"{attribute}" = %attribute{i}')
        lines.append(f"    irdl.attributes {{{', '.join(entries)}}}")
    lines.append("  }")
    return lines
