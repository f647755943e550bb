"""The BLAS that kernels call, by address. It keeps to the calling thread; the pool has others."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import pathlib
import threading

from ..errors import CodegenError
from . import config

_PACKAGE = "scipy_openblas32"
_PREFIXES = ("scipy_", "")
"""What the package's build puts before the names of BLAS and LAPACK."""
_THREADS_VARIABLE = "OPENBLAS_NUM_THREADS"

_LOCK = threading.Lock()


def library_function(name: str) -> int:
    """The address of a function such as ``cblas_sgemm``.

    Raises CodegenError when the library is missing or has no such function.
    """
    library = _library()
    for prefix in _PREFIXES:
        function = getattr(library, prefix + name, None)
        if function is not None:
            address = ctypes.cast(function, ctypes.c_void_p).value
            assert address is not None
            return address
    raise CodegenError(f"{_PACKAGE} has no function {name}")


def library_path() -> str:
    """Where the library is; CodegenError when it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted((pathlib.Path(folder) / "lib").glob("libscipy_openblas*")):
            if path.suffix in (".so", ".dylib"):
                return str(path)
    raise CodegenError(f"matrix products need the package {_PACKAGE.replace('_', '-')}")


@functools.cache
def _library() -> ctypes.CDLL:
    path = library_path()
    # It would start its threads when it is loaded.
    with _LOCK, config.temporary_variable(_THREADS_VARIABLE, "1"):
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            raise CodegenError(f"OpenBLAS cannot be loaded from {path}: {error}") from error
    for prefix in _PREFIXES:
        set_threads = getattr(library, f"{prefix}openblas_set_num_threads", None)
        if set_threads is not None:
            set_threads(1)
    return library
