"""What the documents say of the code is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lamina
from lamina.runtime import config

ROOT = Path(lamina.__file__).parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="lamina is not run from a checkout"
)


def knob_table() -> str:
    """The table of docs/environment.md, from the knobs."""
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    for knob in config.KNOBS:
        default = "" if knob.default == "" else f"`{knob.default}`"
        lines.append(f"| `{knob.name}` | {default} | {knob.doc} |")
    return "\n".join(lines) + "\n"


def test_the_variables_are_documented():
    text = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    assert text.endswith("\n" + knob_table()), f"the table should be\n{knob_table()}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if not target.startswith(("http:", "https:")):
            assert (path.parent / target).exists(), target


def test_ci_runs_the_readmes_test_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (python3 -m venv .*)$", readme, re.MULTILINE)
    assert len(commands) == 2
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.splitlines()[-1] == commands[1]
    folders = {re.match(r"python3 -m venv (\S+) ", command)[1] for command in commands}
    assert len(folders) == 2
