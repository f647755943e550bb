"""Runs every test here on the NumPy references, and the slow run on compiled kernels as well.

The tests are about what the functions mean. The references make them quick; the kernels, compiled
one by one, show that both mean the same.
"""

from __future__ import annotations

from collections import OrderedDict

import pytest

from lamina.frontend import dispatch, operations


@pytest.fixture(
    autouse=True, params=["references", pytest.param("kernels", marks=pytest.mark.slow)]
)
def evaluation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What computes the arrays of a test."""
    if request.param == "references":
        monkeypatch.setattr(operations, "_known", OrderedDict())
        monkeypatch.setattr(dispatch, "operation_for", dispatch.Interpreted)
