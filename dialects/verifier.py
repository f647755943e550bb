"""The verifier of the ``array`` dialect: what IRDL cannot check, in Python.

It runs after parsing and after each pass. Messages begin with ``file:line:column`` and name the op.
"""

from __future__ import annotations

from mlir import ir

from ..errors import LaminaError, VerificationError
from . import encoding, irdl, ops
from .mlir import LITERAL, PRIMITIVES, diagnostics, session
from .primitive import Primitive, TensorType

PREFIX = irdl.NAMESPACE + "."


def verify(op: ir.Operation) -> None:
    """Checks an op and all within it: MLIR's rules, then the type rules of the ``array`` dialect.

    Every primitive's operands, attributes and result must follow its type rule, and every fusion's
    operands and results the type of the function it names.

    Raises:
        VerificationError: for the first op that breaks a rule.
    """
    with session():
        op = op.operation
        try:
            op.verify()
        except ir.MLIRError as error:
            raise VerificationError(diagnostics(error)) from None
        symbols: dict[str, ir.Operation] | None = None
        stack = [op]
        while stack:
            current = stack.pop()
            name = current.name
            if name.startswith(PREFIX):
                primitive = PRIMITIVES.get(name)
                if primitive is not None:
                    _verify_primitive(current, primitive)
                elif name == PREFIX + irdl.FUSION.name:
                    symbols = _functions(op) if symbols is None else symbols
                    _verify_fusion(current, symbols)
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


def _functions(op: ir.Operation) -> dict[str, ir.Operation]:
    """The functions of the outermost op around ``op``, by name."""
    while op.parent is not None:
        op = op.parent.operation
    found: dict[str, ir.Operation] = {}
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                candidate = view.operation
                if candidate.name == "func.func":
                    found[candidate.attributes["sym_name"].value] = candidate
    return found


def _verify_fusion(op: ir.Operation, symbols: dict[str, ir.Operation]) -> None:
    attributes = op.attributes
    body = attributes["body"]
    function = symbols.get(body.value) if isinstance(body, ir.FlatSymbolRefAttr) else None
    if function is None:
        raise _fail(op, f": body {body} is not a function of the module")
    if not attributes["kind"].value:
        raise _fail(op, ": kind must not be empty")
    type_ = function.attributes["function_type"].value
    for noun, values, expected in (
        ("operands", op.operands, type_.inputs),
        ("results", op.results, type_.results),
    ):
        given = [value.type for value in values]
        if given != list(expected):
            raise _fail(
                op, f": {noun} must be {_types(expected)}, as {body} has them, got {_types(given)}"
            )


def _types(types: list[ir.Type]) -> str:
    return f"({', '.join(map(str, types))})"
