"""Emits a kernel as a function over ``scf``, ``vector``, ``memref`` and ``arith``."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import func

from ..schedule.kernel import Kernel
from ..schedule.loops import argument_names
from .conversions import memory_element
from .inner_lanes import InnerLanes
from .outer_lanes import OuterLanes


def argument_types(kernel: Kernel) -> list[ir.Type]:
    """The types of a kernel's argument words."""
    types: list[ir.Type] = []
    for argument in argument_names(kernel):
        operand = argument.removeprefix("buffer")
        if operand != argument:
            element = memory_element(kernel.operands[int(operand)].dtype)
            types.append(ir.Type.parse(f"memref<?x{element}>"))
        else:
            types.append(ir.IndexType.get())
    return types


def emit(kernel: Kernel, name: str, visibility: str | None = None) -> None:
    """Emits ``func.func @name(begin, end, arguments...)`` at the insertion point."""
    emission = InnerLanes(kernel) if kernel.mode == "inner" else OuterLanes(kernel)
    types = [emission.e.index_type] * 2 + argument_types(kernel)
    function = func.FuncOp(name, ir.FunctionType.get(types, []), visibility=visibility)
    block = function.add_entry_block()
    with ir.InsertionPoint(block):
        emission.function(list(block.arguments))
        func.ReturnOp([])
