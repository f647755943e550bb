"""What the tests of ``compile`` share: programs are interpreted, so only tracing is tested."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lamina.frontend import compile as compile_module
from lamina.frontend import switches
from lamina.frontend.dispatch import Interpreted, Selection


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Runs programs by NumPy and leaves the switches as they were."""

    def executable_for(program, pipeline=None):
        if all(value < len(program.inputs) for value in program.outputs):
            return Selection(program.outputs)
        return Interpreted(program)

    monkeypatch.setattr(compile_module, "executable_for", executable_for)
    monkeypatch.delenv("LAMINA_DISABLE_COMPILE", raising=False)
    yield
    switches.switches.disabled = False
    switches.switches.overruled = None
