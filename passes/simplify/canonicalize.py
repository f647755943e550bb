"""The ``canonicalize`` pass: every pattern of this package in one worklist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registry import register
from . import algebra, casts, folding, motion, reductions, views  # noqa: F401  (fill PATTERNS)
from .rewriter import PATTERNS, Rewriter

if TYPE_CHECKING:
    from mlir import ir


@register(
    "canonicalize", "Simplifies ops by identities that keep every bit; moves views to the inputs."
)
def canonicalize(op: ir.Operation) -> None:
    """Rewrites every function of a module until no pattern applies; drops what becomes dead."""
    from .dataflow import Dataflow, functions

    for function in functions(op.operation):
        flow = Dataflow(function)
        Rewriter(flow, PATTERNS).run()
        flow.write()
