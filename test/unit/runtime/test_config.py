"""The knobs: their parsing, and that no other module reads the environment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lamina
from lamina.errors import ArgumentError
from lamina.runtime import config

ROOT = Path(lamina.__file__).parent
FOLDERS = ("dialects", "frontend", "passes", "runtime", "tools")


def test_no_other_module_reads_the_environment():
    reads = re.compile(r"\bos\.environ|\bgetenv\b|\benviron\b")
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(sources) > 20
    readers = [path.name for path in sources if reads.search(path.read_text(encoding="utf-8"))]
    assert readers == ["config.py"]


def test_names_and_docs():
    assert len({knob.name for knob in config.KNOBS}) == len(config.KNOBS)
    for knob in config.KNOBS:
        assert knob.name.startswith("LAMINA_")
        assert knob.doc.endswith(".")


def test_unset_and_empty_give_the_default(monkeypatch):
    monkeypatch.delenv("LAMINA_CACHE_BYTES", raising=False)
    assert config.CACHE_BYTES.get() == 2 * 2**30
    monkeypatch.setenv("LAMINA_CACHE_BYTES", "")
    assert config.CACHE_BYTES.get() == 2 * 2**30


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("4096", 4096), ("64k", 65536), ("64KB", 65536), ("64 KiB", 65536),
        ("1.5GiB", 3 * 2**29), ("2g", 2**31), ("1T", 2**40), ("100B", 100),
    ],
)  # fmt: skip
def test_bytes(monkeypatch, text, value):
    monkeypatch.setenv("LAMINA_CACHE_BYTES", text)
    assert config.CACHE_BYTES.get() == value


@pytest.mark.parametrize("text", ["-1", "much", "1.2.3", "5 apples", "k", "inf", "nan", "1kk"])
def test_sizes_that_are_none(monkeypatch, text):
    monkeypatch.setenv("LAMINA_CACHE_BYTES", text)
    with pytest.raises(ArgumentError, match=r"LAMINA_CACHE_BYTES=.*wanted a size"):
        config.CACHE_BYTES.get()


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("0", False), ("TRUE", True), ("off", False), (" no ", False)]
)
def test_switches(monkeypatch, text, value):
    monkeypatch.setenv("LAMINA_CACHE", text)
    assert config.CACHE.get() is value


def test_a_switch_that_is_none(monkeypatch):
    monkeypatch.setenv("LAMINA_CACHE", "maybe")
    with pytest.raises(ArgumentError, match=r"LAMINA_CACHE='maybe': wanted 1 or 0"):
        config.CACHE.get()


def test_unknown_variables_are_named(monkeypatch):
    monkeypatch.setenv("LAMINA_CAHCE_DIR", "/tmp")
    assert "LAMINA_CAHCE_DIR" in config.unknown_variables()
    assert "LAMINA_CACHE_DIR" not in config.unknown_variables()
