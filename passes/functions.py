"""The functions of a module: programs are public, the bodies of their fusions private."""

from __future__ import annotations

from mlir import ir


def is_public(function: ir.Operation) -> bool:
    """True for a function that can be called from outside of its module."""
    return "sym_visibility" not in function.attributes


def public_functions(module: ir.Operation) -> list[ir.Operation]:
    """The public functions of a module, in order."""
    operations = [view.operation for view in module.regions[0].blocks[0].operations]
    return [op for op in operations if op.name == "func.func" and is_public(op)]


def symbol_of(function: ir.Operation) -> str:
    """A function's name."""
    return ir.StringAttr(function.attributes["sym_name"]).value
