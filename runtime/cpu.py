"""The CPU as a device for code: compile LLVM IR, load it, and find library functions."""

from __future__ import annotations

from . import llvm
from .blas import library_function
from .linker import Image, link
from .llvm import KERNEL_PIPELINE, Target, assembly, host_target
from .loader import LoadedKernel, load


def compile_llvm_ir(
    text: str | bytes,
    entry: str,
    target: Target | None = None,
    pipeline: str = KERNEL_PIPELINE,
) -> Image:
    """LLVM IR to an image for :func:`load`.

    Args:
        text: a module of LLVM IR.
        entry: the function that runs.
        target: what to generate code for; this machine by default.
        pipeline: LLVM's passes, as ``opt -passes`` takes them.

    Raises CodegenError for IR that LLVM refuses and for code that would need a library.
    """
    return link(llvm.compile_object(text, entry, target, pipeline), entry)


__all__ = [
    "Image",
    "LoadedKernel",
    "Target",
    "assembly",
    "compile_llvm_ir",
    "host_target",
    "library_function",
    "load",
]
