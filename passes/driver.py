"""From a program to something that runs: memory, then disk, then the compiler.

Two keys: a program's, from its canonical trace, leads to an artifact; a kernel's, from its body,
leads to machine code that programs share. Both hold the target and the toolchain. Only a miss
imports MLIR.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from weakref import WeakValueDictionary

from ..dialects.program import Program, literal_bytes
from ..errors import CodegenError
from ..runtime import cpu, serialization
from ..runtime.artifact import Artifact
from ..runtime.cache import default_cache
from ..runtime.executable import Executable
from ..runtime.toolchain import toolchain_digest
from . import eager
from .launches import LoweredProgram, artifact_of
from .schedule.kernel import Contraction, Kernel

PIPELINE = "canonicalize,fuse,plan-buffers"
"""The passes of a compiled function up to its launches. A trace has no common or dead work."""

Lower = Callable[[Program], LoweredProgram]

_loaded: WeakValueDictionary[str, cpu.LoadedKernel] = WeakValueDictionary()
"""The machine code that executables of this process hold, by kernel key."""


def executable_for(program: Program, pipeline: str = PIPELINE) -> Executable:
    """The executable of a whole program, simplified and fused.

    Raises:
        CodegenError: if no code generator is usable here, or one refused a kernel.
    """

    def lower(whole: Program) -> LoweredProgram:
        return lower_graph(whole, pipeline)

    return _executable(program, pipeline, lower)


def operation_for(program: Program) -> Executable:
    """The executable of one op with the views of its operands, as it stands."""
    artifact = artifact_of(program, *_kernels_of(eager.lower(program)))
    return _instance(program, artifact)


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
        return lower_kernels.lower_function(module.operation, function)


def _numbered(program: Program) -> Program:
    """The program with each op's number as its location, so that launches know their ops."""
    places = [("trace", number, "") for number in range(len(program.instructions))]
    return Program(program.inputs, program.instructions, program.outputs, places)


def _executable(program: Program, pipeline: str, lower: Lower) -> Executable:
    target = cpu.host_target()
    key = _digest(b"program", program.key(), str(target).encode(), pipeline.encode())

    def create() -> dict[str, bytes]:
        artifact = artifact_of(program, *_kernels_of(lower(program)))
        return {"artifact": serialization.dump(artifact)}

    for attempt in range(2):
        parts = default_cache().get_or_create("program", key, create)
        artifact = serialization.load(parts["artifact"])
        if attempt or all(_is_kept(launch.kernel) for launch in artifact.launches):
            break
        default_cache().put("program", key, create())
    return _instance(program, artifact)


def _instance(program: Program, artifact: Artifact) -> Executable:
    kernels = {launch.kernel: _load(launch.kernel) for launch in artifact.launches}
    return Executable(artifact, kernels, literal_bytes(program)[0])


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.sha256(toolchain_digest())
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()


# Kernels


def _kernels_of(
    lowered: LoweredProgram,
) -> tuple[LoweredProgram, dict[Kernel | Contraction, str], str]:
    """Sees to it that every kernel's machine code is kept; the kernels' keys and the target."""
    target = str(cpu.host_target())
    keys: dict[Kernel | Contraction, str] = {}
    for launch in lowered.launches:
        if launch.kernel not in keys:
            keys[launch.kernel] = _digest(b"kernel", launch.kernel.digest(), target.encode()).hex()
    missing = [kernel for kernel, key in keys.items() if not _is_kept(key)]
    for kernel in missing:
        _compile(kernel, keys[kernel])
    return lowered, keys, target


def _is_kept(key: str) -> bool:
    return key in _loaded or default_cache().get("kernel", bytes.fromhex(key)) is not None


def _compile(kernel: Kernel | Contraction, key: str) -> None:
    def create() -> dict[str, bytes]:
        image = cpu.compile_llvm_ir(llvm_ir(kernel), ENTRY)
        return {"image": image.pack()}

    default_cache().get_or_create("kernel", bytes.fromhex(key), create)


def _load(key: str) -> cpu.LoadedKernel:
    known = _loaded.get(key)
    if known is None:
        parts = default_cache().get("kernel", bytes.fromhex(key))
        if parts is None:
            raise CodegenError(f"the machine code of kernel {key[:16]} is gone from the cache")
        known = _loaded[key] = cpu.load(cpu.Image.unpack(parts["image"]))
    return known


NAME = "kernel"
ENTRY = "kernel_entry"


def llvm_ir(kernel: Kernel | Contraction) -> str:
    """The LLVM IR of one kernel, called ``kernel``."""
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
