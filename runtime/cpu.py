"""The CPU as a device for code: compile LLVM IR, and load it.

LLVM and what serves it are imported by the functions that compile: a process whose code is all in
the module cache needs neither.
"""

from __future__ import annotations

import functools
import hashlib

from .host import host_key
from .image import Image, Target
from .loader import LoadedKernel, load


def compile_llvm_ir(
    text: str | bytes,
    entry: str,
    target: Target | None = None,
    pipeline: str | None = None,
) -> Image:
    """LLVM IR to an image for :func:`load`.

    Args:
        text: a module of LLVM IR.
        entry: the function that runs.
        target: what to generate code for; this machine by default.
        pipeline: LLVM's passes, as ``opt -passes`` takes them; what kernels need by default.

    Raises CodegenError for IR that LLVM refuses and for code that would need a library.
    """
    from .linker import link
    from .llvm import compile_object

    return link(compile_object(text, entry, target, pipeline), entry)


@functools.cache
def host_target() -> Target:
    """This machine's processor, as LLVM sees it.

    It is asked once and then kept in the module cache, since loading LLVM takes longer than all
    else that a process needs whose code is kept. Raises CodegenError when LLVM is missing or does
    not know the processor.
    """
    from .cache import default_cache
    from .toolchain import toolchain_digest

    key = hashlib.sha256(host_key() + toolchain_digest()).digest()
    parts = default_cache().get_or_create("target", key, _ask_for_host_target)
    return Target(*(parts[name].decode() for name in Target._fields))


def _ask_for_host_target() -> dict[str, bytes]:
    from . import llvm

    return {name: value.encode() for name, value in llvm.host_target()._asdict().items()}


__all__ = [
    "Image",
    "LoadedKernel",
    "Target",
    "compile_llvm_ir",
    "host_target",
    "load",
]
