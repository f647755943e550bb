"""The op table: every primitive of the ``array`` dialect, each declared once.

Conventions that hold for all of them:

* Operands of an elementwise op have one shape and, unless the op says otherwise, one dtype:
  broadcasts and casts are ops of their own.
* Reductions keep the reduced axes with size 1; dropping them is a ``reshape``.
* ``broadcast`` keeps the rank; adding axes is a ``reshape``.
* Axes, starts and sizes are non-negative; negative indices are resolved before a primitive is made.
* Integers wrap. ``x // 0`` and ``x % 0`` are 0, ``INT_MIN // -1`` is ``INT_MIN``; shifts beyond the
  width give 0 (arithmetic right shifts give the sign); floats to integers saturate, NaN gives 0.

References: the NumPy reference manual, the Python array API standard 2024.12, IEEE 754-2019, and
MLX's public documentation.
"""

from __future__ import annotations

from . import rules
from .primitive import Primitive, TypeRule, declare

ELEMENTWISE, REDUCTION, VIEW, CREATION = "elementwise", "reduction", "view", "creation"
SCAN, CONTRACTION, UPDATE = "scan", "contraction", "update"


def _unary(name: str, kinds: tuple[str, ...], meaning: str, *traits: str) -> Primitive:
    return declare(
        name, ("operand",), rules.elementwise(kinds), ELEMENTWISE, meaning, traits=traits
    )


def _binary(name: str, kinds: tuple[str, ...], meaning: str, *traits: str) -> Primitive:
    rule = rules.elementwise(kinds)
    return declare(name, ("lhs", "rhs"), rule, ELEMENTWISE, meaning, traits=traits)


def _compare(name: str, kinds: tuple[str, ...], meaning: str, *traits: str) -> Primitive:
    rule = rules.comparison(kinds)
    return declare(name, ("lhs", "rhs"), rule, ELEMENTWISE, meaning, traits=("comparison", *traits))


# Creation

constant = declare(
    "constant", (), rules.constant, CREATION,
    "A scalar of the given dtype. The value is exact: it was rounded when it was made.",
    attributes=(("value", "scalar"), ("dtype", "dtype")),
)  # fmt: skip
iota = declare(
    "iota", (), rules.iota, CREATION,
    "The position along an axis, converted to the dtype.",
    attributes=(("shape", "ints"), ("dtype", "dtype"), ("axis", "int")),
)  # fmt: skip
empty = declare(
    "empty", (), rules.empty, CREATION,
    "A buffer whose elements are not yet defined. Passes make it as the target of updates that "
    "define every element before one is read.",
    attributes=(("shape", "ints"), ("dtype", "dtype")),
)  # fmt: skip

# Elementwise, one operand

negative = _unary(
    "negative", rules.NUMERIC, "-x; unsigned integers wrap, floats flip the sign bit."
)
abs_ = _unary("abs", rules.REAL, "|x|; INT_MIN stays INT_MIN, -0.0 becomes 0.0.", "idempotent")
sign = _unary("sign", rules.REAL, "-1, 0 or 1 by the sign of x; NaN stays NaN, -0.0 gives -0.0.")
floor = _unary(
    "floor", rules.FLOATING, "The largest integer not above x; keeps -0.0.", "idempotent"
)
ceil = _unary("ceil", rules.FLOATING, "The smallest integer not below x; keeps -0.0.", "idempotent")
trunc = _unary("trunc", rules.FLOATING, "x without its fraction; keeps -0.0.", "idempotent")
rint = _unary(
    "rint", rules.FLOATING, "The nearest integer, ties to even; keeps -0.0.", "idempotent"
)
sqrt = _unary("sqrt", rules.FLOATING, "The square root, correctly rounded; NaN below zero.")
rsqrt = _unary("rsqrt", rules.FLOATING, "1 / sqrt(x), computed as that quotient.")
exp = _unary("exp", rules.FLOATING, "e to the power x.")
expm1 = _unary("expm1", rules.FLOATING, "exp(x) - 1 without cancellation near 0.")
log = _unary("log", rules.FLOATING, "The natural logarithm; -inf at 0, NaN below it.")
log1p = _unary("log1p", rules.FLOATING, "log(1 + x) without cancellation near 0.")
log2 = _unary("log2", rules.FLOATING, "The logarithm to base 2, exact at powers of two.")
log10 = _unary("log10", rules.FLOATING, "The logarithm to base 10.")
sin = _unary("sin", rules.FLOATING, "The sine; arguments of any size are reduced exactly.")
cos = _unary("cos", rules.FLOATING, "The cosine; arguments of any size are reduced exactly.")
tan = _unary("tan", rules.FLOATING, "The tangent; arguments of any size are reduced exactly.")
sinh = _unary("sinh", rules.FLOATING, "The hyperbolic sine.")
cosh = _unary("cosh", rules.FLOATING, "The hyperbolic cosine.")
tanh = _unary("tanh", rules.FLOATING, "The hyperbolic tangent.")
arcsin = _unary("arcsin", rules.FLOATING, "The inverse sine; NaN outside [-1, 1].")
arccos = _unary("arccos", rules.FLOATING, "The inverse cosine; NaN outside [-1, 1].")
arctan = _unary("arctan", rules.FLOATING, "The inverse tangent.")
arcsinh = _unary("arcsinh", rules.FLOATING, "The inverse hyperbolic sine.")
arccosh = _unary("arccosh", rules.FLOATING, "The inverse hyperbolic cosine; NaN below 1.")
arctanh = _unary("arctanh", rules.FLOATING, "The inverse hyperbolic tangent; NaN outside [-1, 1].")
erf = _unary("erf", rules.FLOATING, "The error function, 2/sqrt(pi) * integral of exp(-t^2) to x.")
erfinv = _unary(
    "erfinv", rules.FLOATING, "The inverse of erf; infinite at -1 and 1, else NaN outside."
)
sigmoid = _unary("sigmoid", rules.FLOATING, "1 / (1 + exp(-x)), without overflow.")
bitwise_invert = _unary("bitwise_invert", rules.INTEGRAL, "All bits flipped; logical not for bool.")

real = declare("real", ("operand",), rules.complex_part, ELEMENTWISE, "The real part.")
imag = declare("imag", ("operand",), rules.complex_part, ELEMENTWISE, "The imaginary part.")
cast = declare(
    "cast", ("operand",), rules.cast, ELEMENTWISE,
    """The value in another dtype. Floats round to nearest even; floats to integers truncate,
    saturate, and NaN gives 0; integers wrap; anything but zero (NaN too) is True; complex to real
    drops the imaginary part.""",
    attributes=(("dtype", "dtype"),),
)  # fmt: skip
bitcast = declare(
    "bitcast", ("operand",), rules.bitcast, ELEMENTWISE,
    "The same bits under another dtype of the same size.",
    attributes=(("dtype", "dtype"),),
)  # fmt: skip

# Elementwise, two and three operands

add = _binary("add", rules.NUMERIC, "x + y.", "commutative")
subtract = _binary("subtract", rules.NUMERIC, "x - y.")
multiply = _binary("multiply", rules.NUMERIC, "x * y.", "commutative")
divide = _binary("divide", ("floating", "complex"), "x / y, correctly rounded for real dtypes.")
floor_divide = _binary(
    "floor_divide", rules.REAL, "floor(x / y); for integers rounded down, 0 where y is 0."
)
remainder = _binary(
    "remainder",
    rules.REAL,
    "What floored division leaves, exactly, with the sign of y; 0 where an integer y is 0.",
)
power = _binary(
    "power", rules.REAL,
    """x to the power y; IEEE 754 pow for floats. Integers multiply with wrap-around; a negative
    exponent gives what truncated 1 / x**-y gives: 0 but for x = 1, -1, and 0 for x = 0.""",
)  # fmt: skip
maximum = _binary(
    "maximum",
    rules.ORDERED,
    "The larger; NaN if either is; 0.0 is above -0.0.",
    "commutative",
    "idempotent",
)
minimum = _binary(
    "minimum",
    rules.ORDERED,
    "The smaller; NaN if either is; -0.0 is below 0.0.",
    "commutative",
    "idempotent",
)
arctan2 = _binary("arctan2", rules.FLOATING, "The angle of the point (y, x), in [-pi, pi].")
logaddexp = _binary(
    "logaddexp", rules.FLOATING, "log(exp(x) + exp(y)) without overflow.", "commutative"
)
bitwise_and = _binary(
    "bitwise_and", rules.INTEGRAL, "Bits set in both.", "commutative", "idempotent"
)
bitwise_or = _binary(
    "bitwise_or", rules.INTEGRAL, "Bits set in either.", "commutative", "idempotent"
)
bitwise_xor = _binary("bitwise_xor", rules.INTEGRAL, "Bits set in one only.", "commutative")
left_shift = _binary("left_shift", rules.INTEGER, "x * 2**y with wrap-around; 0 beyond the width.")
right_shift = _binary(
    "right_shift", rules.INTEGER, "floor(x / 2**y); beyond the width 0, or the sign if signed."
)

equal = _compare("equal", rules.ANY, "x == y; NaN equals nothing.", "commutative")
not_equal = _compare("not_equal", rules.ANY, "x != y; NaN differs from everything.", "commutative")
less = _compare("less", rules.ORDERED, "x < y; False with NaN.")
less_equal = _compare("less_equal", rules.ORDERED, "x <= y; False with NaN.")
greater = _compare("greater", rules.ORDERED, "x > y; False with NaN.")
greater_equal = _compare("greater_equal", rules.ORDERED, "x >= y; False with NaN.")

complex_ = declare(
    "complex", ("real", "imag"), rules.complex_, ELEMENTWISE,
    "A complex number from its parts.",
)  # fmt: skip
select = declare(
    "select", ("condition", "on_true", "on_false"), rules.select, ELEMENTWISE,
    "on_true where the condition holds, else on_false.",
)  # fmt: skip

# Views

reshape = declare(
    "reshape", ("operand",), rules.reshape, VIEW,
    "The elements in row-major order under another shape.",
    attributes=(("shape", "ints"),),
)  # fmt: skip
transpose = declare(
    "transpose", ("operand",), rules.transpose, VIEW,
    "Axis i of the result is axis permutation[i] of the operand.",
    attributes=(("permutation", "ints"),),
)  # fmt: skip
broadcast = declare(
    "broadcast", ("operand",), rules.broadcast, VIEW,
    "Axes of size 1 are repeated to the shape's size.",
    attributes=(("shape", "ints"),),
)  # fmt: skip
slice_ = declare(
    "slice", ("operand",), rules.slice_, VIEW,
    "Along each axis the elements start + i * step for i below size; steps may be negative.",
    attributes=(("start", "ints"), ("size", "ints"), ("step", "ints")),
)  # fmt: skip

# Updates

slice_update = declare(
    "slice_update", ("operand", "update"), rules.slice_update, UPDATE,
    "The operand with the window that slice would read replaced by the update.",
    attributes=(("start", "ints"), ("step", "ints")),
)  # fmt: skip
pad = declare(
    "pad", ("operand", "value"), rules.pad, UPDATE,
    "The operand with the scalar value before and after it along each axis.",
    attributes=(("low", "ints"), ("high", "ints")),
)  # fmt: skip
concatenate = declare(
    "concatenate", ("*operands",), rules.concatenate, UPDATE,
    "The operands end to end along an axis.",
    attributes=(("axis", "int"),),
)  # fmt: skip

# Reductions and scans


def _reduction(name: str, rule: TypeRule, meaning: str) -> Primitive:
    return declare(name, ("operand",), rule, REDUCTION, meaning, attributes=(("axes", "ints"),))


reduce_sum = _reduction(
    "reduce_sum", rules.reduction(rules.NUMERIC),
    "The sum over the axes, blocked in a way that depends on sizes only; integers wrap.",
)  # fmt: skip
reduce_prod = _reduction(
    "reduce_prod", rules.reduction(rules.NUMERIC), "The product over the axes; integers wrap."
)
reduce_max = _reduction(
    "reduce_max", rules.without_identity(rules.reduction(rules.ORDERED), "max"),
    "The largest over the axes; NaN if any is.",
)  # fmt: skip
reduce_min = _reduction(
    "reduce_min", rules.without_identity(rules.reduction(rules.ORDERED), "min"),
    "The smallest over the axes; NaN if any is.",
)  # fmt: skip
reduce_and = _reduction(
    "reduce_and", rules.reduction(("bool",)), "True where all are; True for none."
)
reduce_or = _reduction(
    "reduce_or", rules.reduction(("bool",)), "True where any is; False for none."
)


def _arg_reduction(name: str, meaning: str) -> Primitive:
    rule = rules.without_identity(rules.arg_reduction, name)
    return declare(name, ("operand",), rule, REDUCTION, meaning, attributes=(("axis", "int"),))


argmax = _arg_reduction("argmax", "The position of the first NaN, else of the first largest.")
argmin = _arg_reduction("argmin", "The position of the first NaN, else of the first smallest.")


def _scan(name: str, kinds: tuple[str, ...], meaning: str) -> Primitive:
    attributes = (("axis", "int"), ("reverse", "bool"), ("inclusive", "bool"))
    return declare(name, ("operand",), rules.scan(kinds), SCAN, meaning, attributes=attributes)


cumsum = _scan("cumsum", rules.NUMERIC, "Running sums along an axis; exclusive ones start at 0.")
cumprod = _scan(
    "cumprod", rules.NUMERIC, "Running products along an axis; exclusive ones start at 1."
)
cummax = _scan(
    "cummax", rules.REAL, "Running maxima along an axis; exclusive ones start at the least value."
)
cummin = _scan(
    "cummin",
    rules.REAL,
    "Running minima along an axis; exclusive ones start at the greatest value.",
)

# Contractions

matmul = declare(
    "matmul", ("lhs", "rhs"), rules.matmul, CONTRACTION,
    """Matrix products over the last two axes, batch axes equal. f16 and bf16 accumulate in f32 and
    round once; integers wrap.""",
)  # fmt: skip
