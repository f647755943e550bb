"""The verifier of the ``array`` dialect: what IRDL cannot check, in Python.

It runs after parsing and after each pass. Messages begin with ``file:line:column`` and name the op.
"""

from __future__ import annotations

from mlir import ir

from ..errors import LaminaError, VerificationError
from . import encoding, ops
from .mlir import LITERAL, PRIMITIVES, MLIRError, diagnostics, session
from .primitive import Primitive, TensorType


def verify(op: ir.Operation) -> None:
    """Checks an op and all within it: MLIR's rules, then the type rules of the ``array`` dialect.

    Every primitive's operands, attributes and result must follow its type rule. Calls of fusions
    follow the function they name by MLIR's own rule.

    Raises:
        VerificationError: for the first op that breaks a rule.
    """
    with session():
        op = op.operation
        try:
            op.verify()
        except MLIRError as error:
            raise VerificationError(diagnostics(error)) from None
        stack = [op]
        while stack:
            current = stack.pop()
            primitive = PRIMITIVES.get(current.name)
            if primitive is not None:
                _verify_primitive(current, primitive)
                continue
            for region in reversed(list(current.regions)):
                for block in reversed(list(region.blocks)):
                    stack += reversed([view.operation for view in block.operations])


def _fail(op: ir.Operation, message: str) -> VerificationError:
    return VerificationError(f"{encoding.describe_location(op.location)}: {op.name}{message}")


def _verify_primitive(op: ir.Operation, primitive: Primitive) -> None:
    types: tuple[TensorType, ...] = ()
    try:
        types = tuple([encoding.decode_type(operand.type) for operand in op.operands])
        given = encoding.decode_type(op.result.type)
        attributes = op.attributes
        expected = primitive.rule(types, encoding.decode_attributes(primitive, attributes))
    except LaminaError as error:
        raise _fail(op, f"{_listed(types)}: {error}") from None
    if given != expected:
        raise _fail(op, f"{_listed(types)}: the result must be {expected}, got {given}")
    if len(attributes) != len(primitive.attributes):
        _verify_extra(op, primitive)


def _listed(types: tuple[TensorType, ...]) -> str:
    return f"({', '.join(map(str, types))})" if types else ""


def _verify_extra(op: ir.Operation, primitive: Primitive) -> None:
    """Checks attributes beyond the declared ones: other dialects' and ``literal``."""
    declared = {name for name, _ in primitive.attributes}
    for name in op.attributes:
        if name in declared or "." in name:
            continue
        if name != LITERAL or primitive is not ops.constant:
            raise _fail(op, f": has no attribute {name}")
        slot = op.attributes[name]
        signless = ir.IntegerType.get_signless(64)
        if not isinstance(slot, ir.IntegerAttr) or slot.type != signless or slot.value < 0:
            raise _fail(op, f": {LITERAL} must be a slot number of type i64, got {slot}")
