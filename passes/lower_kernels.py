"""The ``lower-kernels`` pass: each fusion becomes launches of kernels over ``scf`` and ``vector``.

A launch is ``array.launch`` with the kernel's symbol, its argument words (a buffer with its byte
offset as text, or an integer), the number of units, and the units that one thread takes at a time.
"""

from __future__ import annotations

from mlir import ir

from ..dialects import encoding
from ..dialects.encoding import places_of
from ..dialects.mlir import from_mlir
from .codegen import emit_contraction, emit_kernel
from .functions import is_public, public_functions
from .launches import LoweredLaunch, LoweredProgram, place_launches
from .registry import register
from .schedule import contraction
from .schedule import loops as schedules
from .schedule.kernel import Contraction, Kernel, Schedule


def kernel_name(kernel: Kernel | Contraction) -> str:
    """The symbol of a kernel; equal kernels have one name in every process."""
    return f"kernel_{kernel.digest().hex()[:16]}"


def lower_function(module: ir.Operation, function: ir.Operation) -> LoweredProgram:
    """The launches of a planned function."""
    symbols = ir.SymbolTable(module)
    scheduled: dict[str, Schedule] = {}
    workspace = ir.IntegerAttr(function.attributes["workspace"]).value
    launches: list[LoweredLaunch] = []
    end = workspace
    for view in function.regions[0].blocks[0].operations:
        op = view.operation
        if op.name != "func.call":
            continue
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        if callee not in scheduled:
            body = from_mlir(symbols[callee].operation)
            is_product = ir.StringAttr(op.attributes["kind"]).value == "contraction"
            scheduled[callee] = (contraction if is_product else schedules).schedule(body)
        reads, writes = _texts(op.attributes["reads"]), _texts(op.attributes["writes"])
        trace = tuple(line for file, line, _ in places_of(op.location) if file == "trace")
        used = place_launches(
            scheduled[callee], reads, writes, workspace, op.location, launches, trace
        )
        end = max(end, used)
    return LoweredProgram(launches, end, _texts(function.attributes["results"]))


def _texts(attribute: ir.Attribute) -> list[str]:
    return [ir.StringAttr(entry).value for entry in ir.ArrayAttr(attribute)]


def emit(kernel: Kernel | Contraction, name: str) -> None:
    """Emits a kernel's function at the insertion point."""
    if isinstance(kernel, Contraction):
        emit_contraction.emit(kernel, name)
    else:
        emit_kernel.emit(kernel, name)


@register("lower-kernels", "Turns fusions into launches of kernels over scf, vector and memref.")
def lower_kernels(module: ir.Operation) -> None:
    """Lowers every public function; needs ``plan-buffers`` to have run."""
    block = module.regions[0].blocks[0]
    programs = public_functions(module)
    bodies = [view.operation for view in block.operations if not is_public(view.operation)]
    kernels: dict[str, Kernel | Contraction] = {}
    for function in programs:
        lowered = lower_function(module, function)
        for launch in lowered.launches:
            kernels[kernel_name(launch.kernel)] = launch.kernel
        _replace(function, lowered)
    for body in bodies:
        body.erase()
    with ir.InsertionPoint(block):
        for name, kernel in kernels.items():
            emit(kernel, name)


def _replace(function: ir.Operation, lowered: LoweredProgram) -> None:
    """Puts a function's launches in place of its calls."""
    attributes = {
        "sym_name": function.attributes["sym_name"],
        "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
        "workspace": encoding.encode_attribute("int", lowered.workspace),
        "results": function.attributes["results"],
        "arguments": function.attributes["function_type"],
    }
    new = ir.Operation.create(
        "func.func", attributes=attributes, regions=1, loc=function.location,
        ip=ir.InsertionPoint(function),
    )  # fmt: skip
    point = ir.InsertionPoint(ir.Block.create_at_start(new.regions[0], []))
    for launch in lowered.launches:
        words = [_word(word) for word in launch.arguments]
        ir.Operation.create(
            "array.launch",
            attributes={
                "kernel": ir.FlatSymbolRefAttr.get(kernel_name(launch.kernel)),
                "arguments": ir.ArrayAttr.get(words),
                "units": encoding.encode_attribute("int", launch.units),
                "grain": encoding.encode_attribute("int", launch.grain),
            },
            loc=launch.location,
            ip=point,
        )
    ir.Operation.create("func.return", loc=function.location, ip=point)
    function.erase()


def _word(word: tuple[str, int] | int) -> ir.Attribute:
    if isinstance(word, int):
        return encoding.encode_attribute("int", word)
    name, offset = word
    return ir.StringAttr.get(f"{name}+{offset}" if offset else name)
