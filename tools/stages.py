"""A program stage by stage: from its trace to assembly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..dialects.program import Program

STAGES = {
    "trace": "what tracing recorded",
    "simplified": "what simplification left before fuse",
    "fused": "after fuse: a function for each kernel's body",
    "planned": "after plan-buffers: where each value lies",
    "kernels": "after lower-kernels: launches, and kernels over scf, vector and memref",
    "llvm": "LLVM IR of the kernels",
    "asm": "assembly of the kernels, as they run here",
}
"""Every stage in order, and what it shows."""


def stages(
    program: Program,
    name: str = "main",
    pipeline: str | None = None,
    locations: bool = False,
    generic: bool = False,
) -> Iterator[tuple[str, str]]:
    """The ``(stage, text)`` of a program in order; nothing is done beyond what is asked for.

    Args:
        program: the program.
        name: the name of its function.
        pipeline: the passes up to the launches; None for the default ones. The stages up to
            ``planned`` show the module before the first pass, then before and after ``fuse``, then
            after the last one.
        locations: prints the user's file and line with each op.
        generic: prints MLIR's generic form, which ``lamina opt`` reads.

    Raises:
        PassError: if a pass fails.
        CodegenError: if a code generator refuses a kernel.
    """
    from ..dialects import mlir, printer
    from ..passes import driver
    from ..passes.codegen import to_llvm
    from ..passes.pipeline import parse_pipeline, run_pipeline
    from ..runtime import llvm

    with mlir.session():
        module = mlir.to_mlir(program, name)

        def text() -> str:
            if generic:
                return str(module.operation.get_asm(enable_debug_info=locations))
            return printer.pretty(module.operation, locations=locations)

        yield "trace", text()
        passes = str(parse_pipeline(driver.PIPELINE if pipeline is None else pipeline))
        texts: dict[str, str] = {}
        before = text()

        def note(pass_: str, _op: object, _seconds: float) -> None:
            nonlocal before
            if pass_.split("{")[0] == "fuse":
                texts["simplified"], texts["fused"] = before, text()
            before = text()

        run_pipeline(module, passes, note)
        yield from texts.items()
        yield "planned", before
        run_pipeline(module, "lower-kernels")
        yield "kernels", text()
        kernels = _kernels(module.operation)
        run_pipeline(module, "llvm")
        ir = to_llvm.to_text(module)
    yield "llvm", ir
    symbols = [f"{kernel}{to_llvm.ENTRY_SUFFIX}" for kernel in kernels]
    yield "asm", "\n".join(llvm.assembly(ir, symbol) for symbol in symbols)


def _kernels(module: Any) -> list[str]:
    """The names of the functions that launches of a lowered module call."""
    from mlir import ir

    block = module.regions[0].blocks[0]
    functions = [view.operation for view in block.operations]
    return [
        ir.StringAttr(function.attributes["sym_name"]).value
        for function in functions
        if "results" not in function.attributes
    ]
