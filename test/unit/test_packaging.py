"""What pyproject.toml lists by hand is what the repository holds."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import lamina

ROOT = Path(lamina.__file__).parent
SETTINGS = ROOT / "pyproject.toml"

pytestmark = pytest.mark.skipif(not SETTINGS.exists(), reason="lamina is not run from a checkout")


def listed(name: str) -> list[str]:
    """The strings of a list in pyproject.toml (tomllib came with Python 3.11)."""
    text = SETTINGS.read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(name)} = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return re.findall(r'"([^"]+)"', found.group(1))


def test_every_package_is_listed():
    folders = ("dialects", "frontend", "passes", "runtime", "tools")
    found = ["lamina"]
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("__init__.py")):
            found.append(".".join(("lamina", *path.parent.relative_to(ROOT).parts)))
    assert sorted(listed("packages")) == sorted(found)


def test_every_source_file_lies_in_a_package():
    for folder in ("dialects", "frontend", "passes", "runtime", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), path


def test_data_files_are_packaged():
    assert (ROOT / "py.typed").exists()
    patterns = [*listed('"lamina.runtime"'), *listed('"lamina"'), "*.py"]
    for folder in ("dialects", "frontend", "passes", "runtime", "tools"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert any(path.match(pattern) for pattern in patterns), path


def imported_packages(path: Path) -> set[str]:
    """The top-level packages that a source file imports when it runs."""
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").split(".")[0])
        nodes.extend(ast.iter_child_nodes(node))
    return found


def test_every_imported_distribution_is_a_dependency():
    needed = {
        "ml_dtypes": "ml-dtypes",
        "mlir": "xtc-mlir-python-bindings",
        "numpy": "numpy",
        "platformdirs": "platformdirs",
        "rich": "rich",
        "scipy_openblas32": "scipy-openblas32",
    }
    optional = {"PIL", "scipy", "sklearn"}
    dependencies = {re.split(r"[<>=]", text)[0] for text in listed("dependencies")}
    assert set(needed.values()) <= dependencies
    known = {*sys.stdlib_module_names, *needed, *optional, "lamina"}
    for folder in ("dialects", "frontend", "passes", "runtime", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            assert imported_packages(path) <= known, path
