"""The verifier of the ``array`` dialect: what IRDL cannot check, in Python."""

from __future__ import annotations

from mlir import ir


def verify(op: ir.Operation) -> None:
    """Checks an op and all within it."""
    op.verify()
