"""Imports run one way: tools -> frontend -> passes -> {dialects, runtime} -> errors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lamina

ROOT = Path(lamina.__file__).parent
MAY_IMPORT = {
    "errors": set(),
    "dialects": {"errors"},
    "runtime": {"errors"},
    "passes": {"errors", "dialects", "runtime"},
    "frontend": {"errors", "dialects", "runtime", "passes"},
    "tools": {"errors", "dialects", "runtime", "passes", "frontend", "lamina"},
}
"""The layers that each layer may import besides itself; ``lamina`` are the public names."""

FORBIDDEN = {
    "dialects": set(),
    "runtime": {"mlir"},
    "frontend": {"mlir"},
}
"""Packages from outside that a layer never imports, not even late."""


def imported(path: Path) -> Iterator[str]:
    """The full names of the modules that a source file imports, early or late."""
    package = ("lamina", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *(node.module or "").split("."))).strip(".")
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def layer_of(module: str) -> str | None:
    """The layer of a module of Lamina; ``lamina`` itself for its public names."""
    parts = module.split(".")
    if parts[0] != "lamina":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else "lamina"


def sources(layer: str) -> list[Path]:
    return [ROOT / "errors.py"] if layer == "errors" else sorted((ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_imports_run_one_way(layer):
    assert sources(layer)
    wrong: list[str] = []
    for path in sources(layer):
        for module in imported(path):
            target = layer_of(module)
            # ``from .. import errors`` names the package on the way to the module.
            if module == "lamina" or target is None or target == layer:
                continue
            if target not in MAY_IMPORT[layer]:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_packages_that_a_layer_never_imports(layer):
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in sources(layer)
        for module in imported(path)
        if module.split(".")[0] in FORBIDDEN[layer]
    ]
    assert not wrong


def test_errors_import_nothing_else():
    assert set(imported(ROOT / "errors.py")) <= {"__future__", "__future__.annotations"}


def test_relative_imports_are_understood():
    found = set(imported(ROOT / "runtime" / "cache.py"))
    assert {"lamina.errors", "lamina.runtime.config", "lamina.runtime.cache_file"} <= found
