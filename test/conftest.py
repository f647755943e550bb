"""What every test run shares: a module cache of its own, away from the user's."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

_folder: str | None = None

# Set before any test imports lamina, and inherited by the processes that tests start. The workers
# of pytest-xdist use their parent's folder.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="lamina-test-cache-")
    os.environ["LAMINA_CACHE_DIR"] = _folder
    os.environ["LAMINA_CACHE_STRICT"] = "1"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes the run's cache."""
    if _folder is not None:
        shutil.rmtree(_folder, ignore_errors=True)
