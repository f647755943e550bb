"""The programs that people run first: the examples, the demonstration, and the README's code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import lamina

ROOT = Path(lamina.__file__).parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

pytestmark = pytest.mark.skipif(
    not (ROOT / "examples").exists(), reason="lamina is not run from a checkout"
)


def run(*arguments: str, cwd: Path) -> str:
    """What a Python process prints; it must succeed and warn of nothing."""
    process = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout + process.stderr
    assert process.stderr == ""
    return process.stdout


def command(*arguments: str, cwd: Path) -> str:
    program = "import sys; from lamina.tools.main import main; sys.exit(main())"
    return run("-c", program, *arguments, cwd=cwd)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples(path, tmp_path):
    assert run(str(path), cwd=tmp_path)


def test_demo(tmp_path):
    output = command("demo", "--size", "100000", "--steps", "3", cwd=tmp_path)
    assert output.count("the results agree") == 2
    assert "WRONG" not in output
    for stage in ("trace", "simplified", "fused", "kernels"):
        assert output.count(f"-- {stage}: ") == 2
    assert output.count("op by op") == 2
    assert output.count("NumPy ") >= 2
    picture = (tmp_path / "centroids.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n")
    assert picture[16:24] == (1200).to_bytes(4, "big") + (120).to_bytes(4, "big")


def test_the_commands_that_the_demo_names_work(tmp_path):
    output = command("demo", "--size", "1000", "--steps", "1", "--lines", "2", cwd=tmp_path)
    named = re.findall(r"more lines: lamina (inspect .*)$", output, re.MULTILINE)
    assert len(named) == 8
    shown = command(*re.sub("'", "", named[2]).split(), cwd=tmp_path)
    assert "kind=loop" in shown


def readme_blocks() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```(?:python)?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_readmes_program(tmp_path):
    (tmp_path / "readme.py").write_text(readme_blocks()[0], encoding="utf-8")
    assert run("readme.py", cwd=tmp_path).startswith("array([-0.0040")


def test_the_readme_shows_what_inspect_prints(tmp_path):
    (tmp_path / "readme.py").write_text(readme_blocks()[0], encoding="utf-8")
    output = command("inspect", "readme.py:gelu", "--arg", "f32[1024,1024]", cwd=tmp_path)
    # The program prints a line of its own when it is imported.
    assert output.split("\n", 1)[1].strip() == readme_blocks()[1].strip()
