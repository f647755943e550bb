"""Kernels over ``scf`` and ``vector`` to LLVM IR, with the entry point that the runtime calls."""

from __future__ import annotations

from typing import Any

from mlir import ir, passmanager
from mlir.dialects import llvm

from ...errors import CodegenError
from ..functions import is_public, symbol_of
from ..registry import register

ENTRY_SUFFIX = "_entry"

LOWERING = (
    "builtin.module(convert-vector-to-llvm,convert-math-to-llvm,convert-scf-to-cf,"
    "expand-strided-metadata,finalize-memref-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)"
)


def lower(module: ir.Operation) -> None:
    """Lowers every kernel of a module to the ``llvm`` dialect and gives it an entry point."""
    linkage = ir.Attribute.parse("#llvm.linkage<internal>")
    kernels: list[tuple[str, ir.FunctionType]] = []
    for view in module.regions[0].blocks[0].operations:
        function = view.operation
        if is_public(function):
            type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
            kernels.append((symbol_of(function), type_))
        function.attributes["llvm.linkage"] = linkage
    passmanager.PassManager.parse(LOWERING).run(module)
    _check_legality(module)
    for name, type_ in kernels:
        _add_entry(module, name, type_)


def _check_legality(module: ir.Operation) -> None:
    """Raises CodegenError if an op is left that LLVM IR has no words for."""
    for function in module.regions[0].blocks[0].operations:
        for block in function.operation.regions[0].blocks:
            for view in block.operations:
                name = view.operation.name
                if not name.startswith("llvm."):
                    raise CodegenError(f"{name} has no lowering to LLVM IR")


@register("llvm", "Lowers kernels to the llvm dialect, each with its entry point.")
def lower_module(module: ir.Operation) -> None:
    """Keeps the kernels of a module, in the ``llvm`` dialect; needs ``lower-kernels``."""
    for view in list(module.regions[0].blocks[0].operations):
        op = view.operation
        if op.name == "func.func" and "results" in op.attributes:
            op.erase()
    lower(module)


def to_text(module: ir.Module) -> str:
    """The LLVM IR of a lowered module."""
    # Not in the bindings' stubs.
    translate: Any = llvm.translate_module_to_llvmir  # pyright: ignore[reportAttributeAccessIssue]
    return translate(module.operation)


def _add_entry(module: ir.Operation, name: str, type_: ir.FunctionType) -> None:
    """``i32 name_entry(ptr words, i64 begin, i64 end)`` unpacks the words and calls the kernel.

    A buffer becomes the five values of a rank-1 memref; its size is never looked at.
    """
    body = ["%zero = llvm.mlir.constant(0 : i64) : i64", "%one = llvm.mlir.constant(1 : i64) : i64"]
    operands, types = ["%begin", "%end"], ["i64", "i64"]
    for i, argument in enumerate(type_.inputs[2:]):
        kind = "i64" if isinstance(argument, ir.IndexType) else "!llvm.ptr"
        body.append(f"%a{i} = llvm.getelementptr %words[{i}] : (!llvm.ptr) -> !llvm.ptr, i64")
        body.append(f"%v{i} = llvm.load %a{i} : !llvm.ptr -> {kind}")
        if isinstance(argument, ir.MemRefType):
            operands += [f"%v{i}", f"%v{i}", "%zero", "%zero", "%one"]
            types += [kind, kind, "i64", "i64", "i64"]
        else:
            operands.append(f"%v{i}")
            types.append(kind)
    body.append(f"llvm.call @{name}({', '.join(operands)}) : ({', '.join(types)}) -> ()")
    body.append("%status = llvm.mlir.constant(0 : i32) : i32")
    body.append("llvm.return %status : i32")
    text = (
        f"llvm.func @{name}({', '.join(types)})\n"
        f"llvm.func @{name}{ENTRY_SUFFIX}(%words: !llvm.ptr, %begin: i64, %end: i64) -> i32 {{\n"
        + "\n".join(body)
        + "\n}"
    )
    parsed = ir.Module.parse(text)
    parsed.body.operations[1].operation.clone(ir.InsertionPoint(module.regions[0].blocks[0]))
