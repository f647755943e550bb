"""Runs the FileCheck tests of test/lit, one result a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "lit"


def test_filecheck_tests_pass(tmp_path):
    pytest.importorskip("lit")
    script = "from lit.main import main; main()"
    arguments = ["-v", "-j2", "--param", f"output={tmp_path}", str(FOLDER)]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
