"""``lamina doctor``: finds what is there, and says what is wrong."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from lamina.errors import CodegenError
from lamina.runtime import llvm
from lamina.tools import doctor


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "cache"))


def found() -> dict[str, tuple[str, str]]:
    return {finding.name: (finding.state, finding.text) for finding in doctor.findings()}


def test_all_is_well_here(capsys):
    assert doctor.run(argparse.Namespace()) == 0
    output = capsys.readouterr().out
    for word in ("numpy", "LLVM", "MLIR", "cpu", "module cache", "self-test"):
        assert word in output
    assert "problem" not in output


def test_what_it_finds(tmp_path):
    report = found()
    assert report["LLVM"][1].startswith(llvm.version())
    assert report["folder"] == ("ok", str(tmp_path / "cache"))
    assert report["use"] == ("ok", "can be written and read")
    assert report["compiled function"][1].startswith("right")
    assert report["cuda"][0] in ("ok", "note")


def test_misspelt_variables_are_named(monkeypatch):
    monkeypatch.setenv("LAMINA_CAHCE", "0")
    assert found()["LAMINA_CAHCE"] == ("note", "means nothing to Lamina")


def test_values_that_do_not_parse_are_problems(monkeypatch, capsys):
    monkeypatch.setenv("LAMINA_NUM_THREADS", "many")
    state, text = found()["LAMINA_NUM_THREADS"]
    assert state == "problem"
    assert "'many'" in text


def test_a_refused_cache_is_a_problem(tmp_path, capsys):
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache").chmod(0o777)
    assert doctor.run(argparse.Namespace()) == 1
    assert "writable by others" in " ".join(capsys.readouterr().out.split())


def test_without_llvm(monkeypatch):
    def fail() -> str:
        raise CodegenError("LLVM cannot be loaded")

    monkeypatch.setattr(llvm, "version", fail)
    assert found()["LLVM"] == ("problem", "CodegenError: LLVM cannot be loaded")


def test_a_bound_that_does_not_parse(monkeypatch):
    monkeypatch.setenv("LAMINA_CACHE_BYTES", "much")
    state, text = found()["module cache"]
    assert state == "problem"
    assert "wanted a size" in text
