"""Exact constant folding: an op on constants becomes a constant.

Only ops whose result every target computes to the bit are folded: integers, comparisons, selection,
casts and correctly rounded arithmetic. Functions such as ``exp`` are left to the kernels, whose
results may differ from NumPy's by an ulp. Only constants of one value are looked at, so folding
never makes data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...dialects import ops, reference
from ...dialects.dtypes import DType, bfloat16, float16
from ...dialects.primitive import TensorType
from ...dialects.program import is_lifted
from .rewriter import Rewriter, dtype_of, pattern, splat_of

if TYPE_CHECKING:
    from .dataflow import Op

EXACT = (
    ops.negative, ops.abs_, ops.sign, ops.floor, ops.ceil, ops.trunc, ops.rint, ops.real, ops.imag,
    ops.complex_, ops.maximum, ops.minimum, ops.equal, ops.not_equal, ops.less, ops.less_equal,
    ops.greater, ops.greater_equal, ops.select, ops.bitcast, ops.bitwise_invert, ops.bitwise_and,
    ops.bitwise_or, ops.bitwise_xor, ops.left_shift, ops.right_shift,
)  # fmt: skip
"""Ops without rounding."""
ROUNDED = (ops.add, ops.subtract, ops.multiply, ops.divide, ops.sqrt, ops.cast)
"""Ops that round correctly for real dtypes."""
INTEGER_ONLY = (ops.floor_divide, ops.remainder, ops.power)


@pattern(*EXACT, *ROUNDED, *INTEGER_ONLY)
def fold_constants(op: Op, rewriter: Rewriter) -> Op | None:
    """An elementwise op on constants is a constant."""
    assert op.primitive is not None
    constants: list[Op] = []
    for operand in op.operands:
        constant = splat_of(operand)
        if constant is None:
            return None
        constants.append(constant)
    dtypes = [dtype_of(operand) for operand in op.operands]
    if not _is_exact(op, dtypes):
        return None
    operands = [
        np.asarray(constant.attributes[0]).astype(dtype.numpy)
        for constant, dtype in zip(constants, dtypes, strict=True)
    ]
    scalar = TensorType((), dtype_of(op))
    result = reference.evaluate(op.primitive, operands, op.attributes, scalar)
    if op.primitive in ROUNDED and scalar.dtype.is_inexact and np.isnan(result):
        # Targets differ in the sign and payload of the NaN that an invalid operation makes.
        return None
    value = scalar_of(result, scalar.dtype)
    # A number that would be an operand of the machine code has no slot among the literals.
    return None if is_lifted(value, scalar.dtype) else rewriter.splat(value, op.type)


def _is_exact(op: Op, dtypes: list[DType]) -> bool:
    result = dtype_of(op)
    if op.primitive in INTEGER_ONLY:
        return not result.is_inexact
    if op.primitive is ops.cast:
        # Casts of wide types to f16 and bf16 round twice on some targets.
        return dtypes[0].size <= 4 or result not in (float16, bfloat16)
    if result.kind == "complex" and op.primitive in (ops.multiply, ops.divide):
        return False
    return True


def scalar_of(array: np.ndarray[Any, Any], dtype: DType) -> Any:
    """The Python number in an array of one element, as constants hold it."""
    if dtype.kind == "floating":
        return float(array.astype(np.float64).item())
    return array.item()
