"""From a program to something that runs: memory, then disk, then the compiler.

Two keys: a program's, from its canonical trace, leads to an artifact; a kernel's, from its body,
leads to machine code that programs share. Both hold the target and the toolchain. Only a miss
imports MLIR.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ..dialects.program import Place, Program, literal_bytes, scalar_bytes
from ..runtime import cpu, serialization
from ..runtime.artifact import Artifact
from ..runtime.cache import default_cache
from ..runtime.executable import Executable
from ..runtime.toolchain import toolchain_digest

if TYPE_CHECKING:
    from mlir import ir

    from .launches import LoweredProgram
    from .schedule.kernel import Contraction, Kernel

PIPELINE = "canonicalize,fuse,plan-buffers"
"""The passes of a compiled function up to its launches. A trace has no common or dead work."""

NAME, ENTRY = "kernel", "kernel_entry"
"""The symbols of a kernel and of its entry point in its LLVM IR."""

Kernels = dict[str, cpu.LoadedKernel]

_loaded: WeakValueDictionary[str, cpu.LoadedKernel] = WeakValueDictionary()
"""The machine code that executables of this process hold, by kernel key."""


def executable_for(program: Program, pipeline: str = PIPELINE) -> Executable:
    """The executable of a whole program, simplified and fused.

    Raises:
        CodegenError: if no code generator is usable here, or one refused a kernel.
        PassError: if a pass failed.
    """
    kernels: Kernels = {}
    described: dict[str, str] = {}

    def create() -> dict[str, bytes]:
        described["name"] = _signature(program)
        lowered = lower_graph(program, pipeline)
        artifact = _artifact(program, lowered, kernels)
        return {
            "artifact": serialization.dump(artifact),
            "trace": json.dumps([launch.trace for launch in lowered.launches]).encode(),
            "literals": json.dumps([[n, v.hex()] for n, v in lowered.literals.items()]).encode(),
        }

    if not _may_be_kept(pipeline):
        return _executable(program, create(), kernels)
    target = str(cpu.host_target()).encode()
    key = _digest(b"program", program.key(), target, pipeline.encode())
    parts = default_cache().get_or_create("program", key, create, described)
    artifact = serialization.load(parts["artifact"])
    if not all(_find(launch.kernel, kernels) for launch in artifact.launches):
        # The entry outlived a kernel of it; both are made anew.
        parts = create()
        default_cache().put("program", key, parts, described)
    return _executable(program, parts, kernels)


def operation_for(program: Program) -> Executable:
    """The executable of one op with the views of its operands, as it stands."""
    from . import eager

    kernels: Kernels = {}
    artifact = _artifact(program, eager.lower(program), kernels)
    return Executable(artifact, kernels, literal_bytes(program)[0])


def lower_graph(program: Program, pipeline: str = PIPELINE) -> LoweredProgram:
    """The launches of a program after the passes of a pipeline."""
    from ..dialects import mlir
    from . import lower_kernels
    from .pipeline import run_pipeline

    with mlir.session():
        module = mlir.to_mlir(_numbered(program))
        run_pipeline(module, pipeline, verify=False)
        (function,) = [
            view.operation
            for view in module.body.operations
            if "sym_visibility" not in view.operation.attributes
        ]
        lowered = lower_kernels.lower_function(module.operation, function)
        return replace(lowered, literals=_added_literals(program, function))


def _added_literals(program: Program, function: ir.Operation) -> dict[int, bytes]:
    """The bytes of lifted constants that passes made; their slots are new, or of dropped ones."""
    from ..dialects.mlir import literals

    own = [scalar_bytes(value, dtype) for _, value, dtype in program.literals()]
    found = {slot: scalar_bytes(value, dtype) for slot, value, dtype in literals(function)}
    return {slot: data for slot, data in found.items() if slot >= len(own) or own[slot] != data}


def _numbered(program: Program) -> Program:
    """The program with each op's number as its location, so that launches know their ops."""
    places: list[Place | None] = [
        ("trace", number, "") for number in range(len(program.instructions))
    ]
    return Program(program.inputs, program.instructions, program.outputs, places)


def _may_be_kept(pipeline: str) -> bool:
    """True if the pipeline's text says all: passes of plug-ins may change under their names."""
    if pipeline == PIPELINE:
        return True
    from .pipeline import OwnPass, parse_pipeline
    from .registry import BUILTIN

    own = [pass_ for pass_ in parse_pipeline(pipeline).passes if isinstance(pass_, OwnPass)]
    return all(pass_.pass_.name in BUILTIN for pass_ in own)


def _signature(program: Program) -> str:
    """What ``lamina cache ls`` calls a program."""
    inputs = ", ".join(map(str, program.inputs))
    outputs = ", ".join(str(program.type_of(value)) for value in program.outputs)
    return f"({inputs}) -> {outputs}, {len(program.instructions)} ops"


def _executable(program: Program, parts: dict[str, bytes], kernels: Kernels) -> Executable:
    artifact = serialization.load(parts["artifact"])
    lines = [_lines(program, numbers) for numbers in json.loads(parts["trace"])]
    literals = bytearray(literal_bytes(program)[0])
    for slot, text in json.loads(parts["literals"]):
        literals.extend(bytes(max(8 * slot + 8 - len(literals), 0)))
        literals[8 * slot : 8 * slot + 8] = bytes.fromhex(text).ljust(8, b"\0")
    return Executable(artifact, kernels, bytes(literals), lines)


def _lines(program: Program, numbers: list[int]) -> list[Place]:
    """The user's lines of some of a program's ops, each once."""
    places = [program.locations[number] for number in numbers if program.locations]
    return list(dict.fromkeys(place for place in places if place is not None))


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.sha256(toolchain_digest())
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


# Kernels


def _artifact(program: Program, lowered: LoweredProgram, kernels: Kernels) -> Artifact:
    """The artifact of a lowered program; adds its machine code to the kernels."""
    from .assemble import artifact_of

    target = str(cpu.host_target())
    keys: dict[Kernel | Contraction, str] = {}
    for launch in lowered.launches:
        if launch.kernel not in keys:
            digest = _digest(b"kernel", launch.kernel.digest(), target.encode())
            keys[launch.kernel] = digest.hex()
    for kernel, key in keys.items():
        if not _find(key, kernels):
            _compile(kernel, key, kernels)
    return artifact_of(program, lowered, keys, target)


def _find(key: str, kernels: Kernels) -> bool:
    """Adds a kernel's machine code to the kernels if it is in memory or on disk."""
    if key in kernels:
        return True
    known = _loaded.get(key)
    if known is None:
        parts = default_cache().get("kernel", bytes.fromhex(key))
        if parts is None:
            return False
        known = _loaded[key] = cpu.load(cpu.Image.unpack(parts["image"]))
    kernels[key] = known
    return True


def _compile(kernel: Kernel | Contraction, key: str, kernels: Kernels) -> None:
    def create() -> dict[str, bytes]:
        return {"image": cpu.compile_llvm_ir(llvm_ir(kernel), ENTRY).pack()}

    described = {"name": kernel.summary()}
    parts = default_cache().get_or_create("kernel", bytes.fromhex(key), create, described)
    kernels[key] = _loaded[key] = cpu.load(cpu.Image.unpack(parts["image"]))


def llvm_ir(kernel: Kernel | Contraction) -> str:
    """The LLVM IR of one kernel and its entry point."""
    from mlir import ir

    from ..dialects import mlir
    from . import lower_kernels
    from .codegen import to_llvm

    with mlir.session():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            lower_kernels.emit(kernel, NAME)
        to_llvm.lower(module.operation)
        return to_llvm.to_text(module)
