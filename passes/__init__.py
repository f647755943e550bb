"""Passes: simplification, fusion, buffer planning, lowering, and how to add one's own.

The names here are loaded when they are first used: running what is in the cache needs no pass.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .pipeline import Pipeline, parse_pipeline, run_pipeline
    from .registry import register

__all__ = ["Pipeline", "parse_pipeline", "register", "run_pipeline"]

_MODULES = {
    "Pipeline": "pipeline",
    "parse_pipeline": "pipeline",
    "register": "registry",
    "run_pipeline": "pipeline",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
