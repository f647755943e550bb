"""Compiled functions on top of a cache that fails in every way: the answers stay right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lamina.runtime.cache import ModuleCache

PROGRAM = """
import sys
import numpy as np
import lamina as lm

@lm.compile
def function(x, w):
    return lm.softmax(x @ w, axis=1) * 2.5 + x.sum(axis=0)

x = np.arange(12, dtype=np.float32).reshape(4, 3) / 8
w = np.arange(9, dtype=np.float32).reshape(3, 3) / 4
e = np.exp(x @ w - (x @ w).max(axis=1, keepdims=True))
expected = e / e.sum(axis=1, keepdims=True) * 2.5 + x.sum(axis=0)
for result in (function(lm.array(x), lm.array(w)), lm.array(x) + 1):
    lm.eval(result)
np.testing.assert_allclose(np.array(function(lm.array(x), lm.array(w))), expected, rtol=1e-5)
print(int(any(name.split(".")[0] == "mlir" for name in sys.modules)))
"""


def run(folder: Path, *, warnings: str = "", **environment: str) -> bool:
    """Runs the program; says if it had to compile. ``warnings`` must be all that it warns of."""
    process = subprocess.run(
        # Where no code generator is usable functions are interpreted, which is a warning too.
        [sys.executable, "-W", "always", "-c", PROGRAM],
        env={**os.environ, "LAMINA_CACHE_STRICT": "0", "LAMINA_CACHE_DIR": str(folder)}
        | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr
    assert ("Warning" in process.stderr) == bool(warnings), process.stderr
    assert process.stderr.count("Warning:") == bool(warnings), process.stderr
    assert warnings in process.stderr
    return process.stdout.strip() == "1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_a_second_process_compiles_nothing(folder):
    assert run(folder)
    kinds = [entry.kind for entry in ModuleCache(folder).entries()]
    assert kinds.count("program") >= 1
    assert kinds.count("kernel") >= 2
    assert not run(folder)


@pytest.mark.parametrize("disk", ["0", "1"])
@pytest.mark.parametrize("memory", ["0", "1k", ""])
def test_with_little_room(folder, disk, memory):
    run(folder, LAMINA_CACHE=disk, LAMINA_CACHE_MEMORY_BYTES=memory)
    run(folder, LAMINA_CACHE=disk, LAMINA_CACHE_MEMORY_BYTES=memory, LAMINA_CACHE_BYTES="0")


@pytest.mark.parametrize("memory", ["0", ""])
def test_a_folder_that_cannot_be_used(folder, memory):
    folder.write_text("a file")
    assert run(folder, warnings="CacheWarning", LAMINA_CACHE_MEMORY_BYTES=memory)


@pytest.mark.parametrize("kind", ["program", "kernel", "sources"])
@pytest.mark.parametrize("damage", ["remove", "truncate", "flip"])
def test_entries_that_are_damaged_or_gone(folder, kind, damage):
    run(folder)
    cache = ModuleCache(folder)
    paths = [Path(entry.path) for entry in cache.entries() if entry.kind == kind]
    assert paths
    for path in paths:
        data = bytearray(path.read_bytes())
        if damage == "remove":
            path.unlink()
            continue
        if damage == "truncate":
            del data[len(data) // 2 :]
        else:
            data[-1] ^= 1
        path.write_bytes(data)
    run(folder)
    assert cache.verify()[1] == []
    assert not run(folder)


def test_a_cache_that_shrinks_while_it_is_used(folder):
    run(folder, LAMINA_CACHE_BYTES="4k", LAMINA_CACHE_MEMORY_BYTES="0")


PASS = """
import numpy as np
import lamina as lm
from lamina.dialects import ops
from lamina.passes.driver import PIPELINE
from lamina.passes.registry import register
from lamina.passes.simplify.rewriter import Rewriter

@register("swap-op", "Puts another op in place of exp.")
def swap_op(module):
    from lamina.passes.simplify.dataflow import Dataflow, functions
    for function in functions(module.operation):
        flow = Dataflow(function)
        Rewriter(flow, {ops.exp: [lambda op, r: r.create(ops.NAME, op.operands)]}).run()
        flow.write()

function = lm.compile(lambda x: lm.exp(x), pipeline=f"swap-op,{PIPELINE}")
print(function(lm.array([4.0])).item())
"""


def test_an_edited_pass_is_never_answered_with_old_code(tmp_path):
    path = tmp_path / "own.py"
    environment = {**os.environ, "LAMINA_CACHE_DIR": str(tmp_path / "cache")}

    def result(name: str) -> str:
        path.write_text(PASS.replace("NAME", name), encoding="utf-8")
        return subprocess.run(
            [sys.executable, str(path)], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert result("sqrt") == "2.0"
    assert result("negative") == "-4.0"
