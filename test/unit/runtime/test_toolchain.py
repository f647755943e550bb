"""The digest of the compiler: equal in every process, another after every edit."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lamina.runtime import toolchain
from lamina.runtime.cache import ModuleCache


@pytest.fixture
def copy(tmp_path: Path, monkeypatch) -> Path:
    """A copy of the compiler's sources that the digest looks at."""
    root = tmp_path / "lamina"
    for name in toolchain.source_files():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(toolchain.ROOT) / name, target)
    monkeypatch.setattr(toolchain, "ROOT", str(root))
    return root


@pytest.fixture
def cache(tmp_path: Path) -> ModuleCache:
    return ModuleCache(tmp_path / "cache")


def test_it_is_equal_in_another_process():
    program = "from lamina.runtime.toolchain import toolchain_digest as d; print(d().hex())"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert found.stdout.strip() == toolchain.toolchain_digest().hex()


def test_the_sources_are_the_compilers():
    names = toolchain.source_files()
    assert "runtime/cache.py" in names
    assert "dialects/ops.py" in names
    assert "passes/driver.py" in names
    assert not [name for name in names if name.startswith(("frontend", "test", "tools"))]


def test_the_place_does_not_matter(copy, cache, monkeypatch):
    there = toolchain.source_digest(cache)
    monkeypatch.undo()
    assert toolchain.source_digest(cache) == there


def test_every_edit_matters(copy, cache):
    digests = {toolchain.source_digest(cache)}
    source = copy / "passes" / "driver.py"
    text = source.read_text(encoding="utf-8")

    source.write_text(text + "\n", encoding="utf-8")
    digests.add(toolchain.source_digest(cache))
    # The same length and time of change, other bytes; the clock of files ticks every few ms.
    time.sleep(0.02)
    stamp = source.stat()
    source.write_text(text + " ", encoding="utf-8")
    os.utime(source, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    digests.add(toolchain.source_digest(cache))
    source.rename(source.with_name("other.py"))
    digests.add(toolchain.source_digest(cache))
    source.with_name("other.py").unlink()
    digests.add(toolchain.source_digest(cache))
    (copy / "runtime" / "native.ll").write_text("; another\n", encoding="utf-8")
    digests.add(toolchain.source_digest(cache))
    assert len(digests) == 6


def test_an_edit_that_is_undone_finds_the_old_digest(copy, cache):
    source = copy / "passes" / "driver.py"
    text = source.read_text(encoding="utf-8")
    before = toolchain.source_digest(cache)
    source.write_text("pass\n", encoding="utf-8")
    assert toolchain.source_digest(cache) != before
    source.write_text(text, encoding="utf-8")
    assert toolchain.source_digest(cache) == before


def test_sources_are_hashed_once(cache, monkeypatch):
    toolchain.source_digest(cache)
    monkeypatch.setattr(toolchain, "_hash", lambda names: pytest.fail("hashed again"))
    toolchain.source_digest(cache)
    toolchain.source_digest(ModuleCache(cache.folder))


def test_versions_are_those_of_the_metadata():
    for name, version in toolchain.versions().items():
        assert version == importlib.metadata.version(name)


def test_a_distribution_that_is_not_there(monkeypatch):
    monkeypatch.setattr(sys, "path", ["/nonexistent"])
    assert set(toolchain.versions().values()) == {"none"}
