"""The pretty printer: the ``array`` dialect for people. It is one-way; nothing reads its output.

A function reads like this, with ``locations`` the user's lines too::

    func @main(%0: f32[4,8], %1: f32[4,1]) -> f32[4,8] {
      %2 = broadcast(%1) : f32[4,8]                           // model.py:12 in loss
      %3 = subtract(%0, %2) : f32[4,8]                        // model.py:12 in loss
      return %3
    }

Attributes that the type says already are left out. Functions that hold ops of other dialects are
printed as MLIR prints them.
"""

from __future__ import annotations

from typing import Any

from mlir import ir

from ..errors import VerificationError
from . import encoding, irdl, ops
from .dtypes import DType
from .mlir import LITERAL, PRIMITIVES, session
from .primitive import Primitive

COMMENT_COLUMN = 60
"""Where locations start, if the line is shorter."""

_IMPLIED = frozenset({"shape", "dtype", "size"})
"""Attributes that only repeat the result's type."""
_CALLS = ("func.call", f"{irdl.NAMESPACE}.{irdl.LAUNCH.name}")
_CALLEES = ("callee", "kernel")


def pretty(op: ir.Operation, *, locations: bool = False) -> str:
    """A module or a function as text for people.

    Args:
        op: a module or a function.
        locations: adds a comment to each op with the user's file, line and function.
    """
    with session():
        op = op.operation
        if op.name != "builtin.module":
            return _function(op, locations)
        functions = [view.operation for view in op.regions[0].blocks[0].operations]
        return "\n".join(_function(function, locations) for function in functions)


def _function(op: ir.Operation, locations: bool) -> str:
    if op.name != "func.func" or len(op.regions[0].blocks) != 1:
        return f"{op}\n"
    block = op.regions[0].blocks[0]
    body = [view.operation for view in block.operations]
    if not all(_is_plain(inner) for inner in body):
        return f"{op}\n"
    names: dict[ir.Value, str] = {}
    lines = [_signature(op, block, names)]
    for inner in body:
        line = f"  {_op(inner, names)}"
        place = encoding.decode_location(inner.location) if locations else None
        if place is not None:
            file, number, function = place
            line = f"{line:<{COMMENT_COLUMN}}  // {file}:{number}"
            line += f" in {function}" if function else ""
        lines.append(line)
    return "\n".join([*lines, "}\n"])


def _is_plain(op: ir.Operation) -> bool:
    return op.name in PRIMITIVES or op.name in _CALLS or op.name == "func.return"


def _signature(op: ir.Operation, block: ir.Block, names: dict[ir.Value, str]) -> str:
    arguments = [f"{_name(value, names)}: {_type(value)}" for value in block.arguments]
    results = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).results
    shown = ", ".join(_type_text(type_) for type_ in results)
    shown = f"({shown})" if len(results) != 1 else shown
    private = "private " if "sym_visibility" in op.attributes else ""
    name = ir.StringAttr(op.attributes["sym_name"]).value
    return f"{private}func @{name}({', '.join(arguments)}) -> {shown} {{"


def _name(value: ir.Value, names: dict[ir.Value, str]) -> str:
    return names.setdefault(value, f"%{len(names)}")


def _type(value: ir.Value) -> str:
    return _type_text(value.type)


def _type_text(type_: ir.Type) -> str:
    try:
        return str(encoding.decode_type(type_))
    except VerificationError:
        return str(type_)


def _op(op: ir.Operation, names: dict[ir.Value, str]) -> str:
    operands = ", ".join(_name(value, names) for value in op.operands)
    if op.name == "func.return":
        return f"return {operands}".rstrip()
    primitive = PRIMITIVES.get(op.name)
    called = _call(op, operands) if primitive is None else _primitive(op, primitive, operands)
    results = ", ".join(_name(value, names) for value in op.results)
    types = ", ".join(_type(value) for value in op.results)
    return f"{results} = {called} : {types}" if results else called


def _primitive(op: ir.Operation, primitive: Primitive, operands: str) -> str:
    values = encoding.decode_attributes(primitive, op.attributes)
    if primitive is ops.constant:
        literal = op.attributes.get(LITERAL)
        slot = "" if literal is None else f" [literal {ir.IntegerAttr(literal).value}]"
        return f"constant {values[0]}{slot}"
    shown = [
        f"{name}={_attribute(value)}"
        for (name, _), value in zip(primitive.attributes, values, strict=True)
        if name not in _IMPLIED
    ]
    call = f"{primitive.name}({operands})"
    return f"{call} {' '.join(shown)}" if shown else call


def _attribute(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(str, value))}]"
    if isinstance(value, DType):
        return value.short
    return str(value).lower() if isinstance(value, bool) else str(value)


def _call(op: ir.Operation, operands: str) -> str:
    """A call or a launch: the callee in front, other attributes after."""
    callee, shown = "", []
    for name in op.attributes:
        text = str(op.attributes[name])
        if name in _CALLEES:
            callee = text
        else:
            shown.append(f"{name}={text.strip(chr(34))}")
    verb = op.name.rpartition(".")[2]
    call = f"{verb} {callee}({operands})"
    return f"{call} {' '.join(shown)}" if shown else call
