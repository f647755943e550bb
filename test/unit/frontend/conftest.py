"""Runs every test here twice: on the NumPy references, and on compiled kernels.

The tests are about what the functions mean; that both agree shows that both mean the same.
"""

from __future__ import annotations

from collections import OrderedDict

import pytest

from lamina.frontend import dispatch, operations


@pytest.fixture(autouse=True, params=["references", "kernels"])
def evaluation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What computes the arrays of a test."""
    if request.param == "references":
        monkeypatch.setattr(operations, "_known", OrderedDict())
        monkeypatch.setattr(dispatch, "operation_for", dispatch.Interpreted)
