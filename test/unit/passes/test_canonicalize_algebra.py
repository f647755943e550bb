"""Identities of arithmetic, bits, comparisons, selection and casts keep every bit."""

from __future__ import annotations

import math

import pytest

from lamina.dialects import dtypes, ops
from lamina.dialects.primitive import TensorType
from lamina.errors import LaminaError

FLOATING = [d for d in dtypes.ALL if d.kind == "floating"]
INTEGER = [d for d in dtypes.ALL if d.is_integer]
SIGNED = [d for d in dtypes.ALL if d.kind == "signed"]
INTEGRAL = [*INTEGER, dtypes.bool_]
REAL = [*INTEGER, *FLOATING]

# Each law: the dtypes it holds for, the program on inputs x and y, and the ops that are left.
LAWS = {
    "x * 1": (REAL, lambda d, x, y: d.multiply(x, d.like(1, x)), []),
    "1 * x": (REAL, lambda d, x, y: d.multiply(d.like(1, x), x), []),
    "x / 1": (FLOATING, lambda d, x, y: d.divide(x, d.like(1.0, x)), []),
    "x / 2": (FLOATING, lambda d, x, y: d.divide(x, d.like(2.0, x)), ["multiply"]),
    "x - 0.0": (REAL, lambda d, x, y: d.subtract(x, d.like(0, x)), []),
    "x + -0.0": (FLOATING, lambda d, x, y: d.add(x, d.like(-0.0, x)), []),
    "x ** 1": (REAL, lambda d, x, y: d.power(x, d.like(1, x)), []),
    "x ** 0": (REAL, lambda d, x, y: d.power(x, d.like(0, x)), []),
    "-(-x)": (REAL, lambda d, x, y: d.negative(d.negative(x)), []),
    "x + -y": (REAL, lambda d, x, y: d.add(x, d.negative(y)), ["subtract"]),
    "-x + y": (REAL, lambda d, x, y: d.add(d.negative(x), y), ["subtract"]),
    "x - -y": (REAL, lambda d, x, y: d.subtract(x, d.negative(y)), ["add"]),
    "-x * -y": (REAL, lambda d, x, y: d.multiply(d.negative(x), d.negative(y)), ["multiply"]),
    "-x / -y": (FLOATING, lambda d, x, y: d.divide(d.negative(x), d.negative(y)), ["divide"]),
    "||x||": (FLOATING + SIGNED, lambda d, x, y: d.abs_(d.abs_(x)), ["abs"]),
    "|-x|": (FLOATING + SIGNED, lambda d, x, y: d.abs_(d.negative(x)), ["abs"]),
    "sign of sign": (FLOATING + SIGNED, lambda d, x, y: d.sign(d.sign(x)), ["sign"]),
    "floor of ceil": (FLOATING, lambda d, x, y: d.floor(d.ceil(x)), ["ceil"]),
    "rint of trunc": (FLOATING, lambda d, x, y: d.rint(d.trunc(x)), ["trunc"]),
    "max(x, x)": (REAL, lambda d, x, y: d.maximum(x, x), []),
    "max(x, -inf)": (FLOATING, lambda d, x, y: d.maximum(x, d.like(-math.inf, x)), []),
    "min(inf, x)": (FLOATING, lambda d, x, y: d.minimum(d.like(math.inf, x), x), []),
    "x + 0": (INTEGER, lambda d, x, y: d.add(x, d.like(0, x)), []),
    "x - x": (INTEGER, lambda d, x, y: d.subtract(x, x), []),
    "x * 0": (INTEGER, lambda d, x, y: d.multiply(x, d.like(0, x)), []),
    "x * -1": (SIGNED, lambda d, x, y: d.multiply(x, d.like(-1, x)), ["negative"]),
    "0 - x": (INTEGER, lambda d, x, y: d.subtract(d.like(0, x), x), ["negative"]),
    "-(x - y)": (INTEGER, lambda d, x, y: d.negative(d.subtract(x, y)), ["subtract"]),
    "x // 1": (INTEGER, lambda d, x, y: d.floor_divide(x, d.like(1, x)), []),
    "0 // x": (INTEGER, lambda d, x, y: d.floor_divide(d.like(0, x), x), []),
    "x % 1": (INTEGER, lambda d, x, y: d.remainder(x, d.like(1, x)), []),
    "x % x": (INTEGER, lambda d, x, y: d.remainder(x, x), []),
    "(x + 1) + 1": (
        INTEGER, lambda d, x, y: d.add(d.add(x, d.like(1, x)), d.like(1, x)), ["add"],
    ),
    "(x + 2) - ... + -2": (
        SIGNED, lambda d, x, y: d.add(d.add(x, d.like(1, x)), d.like(-1, x)), [],
    ),
    "x & x": (INTEGRAL, lambda d, x, y: d.bitwise_and(x, x), []),
    "x & 0": (INTEGRAL, lambda d, x, y: d.bitwise_and(x, d.like(0, x)), []),
    "x | 0": (INTEGRAL, lambda d, x, y: d.bitwise_or(x, d.like(0, x)), []),
    "x ^ 0": (INTEGRAL, lambda d, x, y: d.bitwise_xor(x, d.like(0, x)), []),
    "x ^ x": (INTEGRAL, lambda d, x, y: d.bitwise_xor(x, x), []),
    "x & ~x": (INTEGRAL, lambda d, x, y: d.bitwise_and(x, d.bitwise_invert(x)), []),
    "~x | x": (
        [*SIGNED, dtypes.bool_], lambda d, x, y: d.bitwise_or(d.bitwise_invert(x), x), [],
    ),
    "x & -1": (SIGNED, lambda d, x, y: d.bitwise_and(x, d.like(-1, x)), []),
    "x ^ -1": (SIGNED, lambda d, x, y: d.bitwise_xor(x, d.like(-1, x)), ["bitwise_invert"]),
    "~~x": (INTEGRAL, lambda d, x, y: d.bitwise_invert(d.bitwise_invert(x)), []),
    "x << 0": (INTEGER, lambda d, x, y: d.left_shift(x, d.like(0, x)), []),
    "x >> 0": (INTEGER, lambda d, x, y: d.right_shift(x, d.like(0, x)), []),
    "0 << x": (INTEGER, lambda d, x, y: d.left_shift(d.like(0, x), x), []),
    "x << -1": (SIGNED, lambda d, x, y: d.left_shift(x, d.like(-1, x)), []),
    "x < x": (REAL, lambda d, x, y: d.less(x, x), []),
    "x > x": (REAL, lambda d, x, y: d.greater(x, x), []),
    "x == x": (INTEGRAL, lambda d, x, y: d.equal(x, x), []),
    "x <= x": (INTEGRAL, lambda d, x, y: d.less_equal(x, x), []),
    "1 < x": (REAL, lambda d, x, y: d.less(d.like(1, x), x), ["greater"]),
    "not (x < y)": (INTEGER, lambda d, x, y: d.bitwise_invert(d.less(x, y)), ["greater_equal"]),
    "not (x == y)": (REAL, lambda d, x, y: d.bitwise_invert(d.equal(x, y)), ["not_equal"]),
    "x == True": ([dtypes.bool_], lambda d, x, y: d.equal(x, d.like(True, x)), []),
    "x == False": (
        [dtypes.bool_], lambda d, x, y: d.equal(x, d.like(False, x)), ["bitwise_invert"],
    ),
    "x != False": ([dtypes.bool_], lambda d, x, y: d.not_equal(x, d.like(False, x)), []),
}  # fmt: skip

# What looks like a law and is none: the op stays.
NO_LAWS = {
    "x + 0.0": (FLOATING, lambda d, x, y: d.add(x, d.like(0.0, x)), ["add"]),
    "x - -0.0": (FLOATING, lambda d, x, y: d.subtract(x, d.like(-0.0, x)), ["subtract"]),
    "x * 0": (FLOATING, lambda d, x, y: d.multiply(x, d.like(0.0, x)), ["multiply"]),
    "x - x": (FLOATING, lambda d, x, y: d.subtract(x, x), ["subtract"]),
    "x / x": (FLOATING, lambda d, x, y: d.divide(x, x), ["divide"]),
    "0 - x": (FLOATING, lambda d, x, y: d.subtract(d.like(0.0, x), x), ["subtract"]),
    "-(x - y)": (
        FLOATING, lambda d, x, y: d.negative(d.subtract(x, y)), ["subtract", "negative"],
    ),
    "x == x": (FLOATING, lambda d, x, y: d.equal(x, x), ["equal"]),
    "x != x": (FLOATING, lambda d, x, y: d.not_equal(x, x), ["not_equal"]),
    "x <= x": (FLOATING, lambda d, x, y: d.less_equal(x, x), ["less_equal"]),
    "not (x < y)": (
        FLOATING, lambda d, x, y: d.bitwise_invert(d.less(x, y)), ["less", "bitwise_invert"],
    ),
    "(x + 1) + 1": (
        FLOATING, lambda d, x, y: d.add(d.add(x, d.like(1.0, x)), d.like(1.0, x)), ["add", "add"],
    ),
    "max(x, 0)": (FLOATING + SIGNED, lambda d, x, y: d.maximum(x, d.like(0, x)), ["maximum"]),
    "x // x": (INTEGER, lambda d, x, y: d.floor_divide(x, x), ["floor_divide"]),
    "x ** 2": (REAL, lambda d, x, y: d.power(x, d.like(2, x)), ["power"]),
    "x ** 0.5": (FLOATING, lambda d, x, y: d.power(x, d.like(0.5, x)), ["power"]),
    "a literal is unknown": (REAL, lambda d, x, y: d.add(x, d.like(3, x)), ["add"]),
}  # fmt: skip


def _cases(table):
    return [
        pytest.param(dtype, build, left, id=f"{name} {dtype.short}")
        for name, (of, build, left) in table.items()
        for dtype in of
    ]


@pytest.mark.parametrize(("dtype", "build", "left"), [*_cases(LAWS), *_cases(NO_LAWS)])
def test_a_law(laws, dtype, build, left):
    inputs = laws.combinations(dtype, dtype)
    shape = inputs[0].shape
    draft = laws.Draft((shape, dtype), (shape, dtype))
    program = draft.program(build(draft, 0, 1))
    simplified = laws.check(program, inputs)
    assert laws.names(simplified) == left


SELECTS = {
    "constant True": (lambda d, c, x, y: d.select(d.like(True, c), x, y), []),
    "constant False": (lambda d, c, x, y: d.select(d.like(False, c), x, y), []),
    "equal arms": (lambda d, c, x, y: d.select(c, x, x), []),
    "inverted": (lambda d, c, x, y: d.select(d.bitwise_invert(c), x, y), ["select"]),
    "nested true": (lambda d, c, x, y: d.select(c, d.select(c, x, y), y), ["select"]),
    "nested false": (lambda d, c, x, y: d.select(c, x, d.select(c, x, y)), ["select"]),
}


@pytest.mark.parametrize("name", SELECTS)
def test_selection(laws, dtype, name):
    build, left = SELECTS[name]
    inputs = laws.combinations(dtypes.bool_, dtype, dtype)
    shape = inputs[0].shape
    draft = laws.Draft((shape, dtypes.bool_), (shape, dtype), (shape, dtype))
    program = draft.program(build(draft, 0, 1, 2))
    assert laws.names(laws.check(program, inputs)) == left


@pytest.mark.parametrize(
    ("arms", "left"), [((True, False), []), ((False, True), ["bitwise_invert"])]
)
def test_selection_of_truth(laws, arms, left):
    draft = laws.Draft(((2,), dtypes.bool_))
    program = draft.program(draft.select(0, *[draft.like(arm, 0) for arm in arms]))
    assert laws.names(laws.check(program, laws.combinations(dtypes.bool_))) == left


@pytest.mark.parametrize("source", dtypes.ALL, ids=lambda d: d.short)
def test_casts_of_casts(laws, source):
    """Every pair of casts, in one program: what is left computes the same bits."""
    values = laws.nasty(source)
    draft = laws.Draft((values.shape, source))
    outputs = [
        draft.cast(draft.cast(0, dtype=middle), dtype=target)
        for middle in dtypes.ALL
        for target in dtypes.ALL
        if middle is not target
    ]
    laws.check(draft.program(*outputs), [values])


@pytest.mark.parametrize(
    ("source", "middle", "target", "left"),
    [
        ("float16", "float32", "float16", []),
        ("bfloat16", "float64", "float32", ["cast"]),
        ("int8", "int32", "int8", []),
        ("bool", "float32", "bool", []),
        ("uint8", "float16", "float32", ["cast"]),
        ("int64", "int32", "int16", ["cast"]),
        ("float32", "float16", "float32", ["cast", "cast"]),
        ("float64", "float32", "bfloat16", ["cast", "cast"]),
        ("int32", "float32", "int32", ["cast", "cast"]),
        ("int8", "float32", "uint8", ["cast", "cast"]),
        ("int32", "float64", "bfloat16", ["cast", "cast"]),
        ("int32", "int8", "bool", ["cast", "cast"]),
    ],
)
def test_a_cast_goes_only_if_it_is_exact(laws, source, middle, target, left):
    source, middle, target = (dtypes.from_name(name) for name in (source, middle, target))
    draft = laws.Draft(((3,), source))
    program = draft.program(draft.cast(draft.cast(0, dtype=middle), dtype=target))
    assert laws.names(laws.apply(program)) == left


def test_bitcasts(laws):
    draft = laws.Draft(((18,), dtypes.float32))
    bits = draft.bitcast(draft.bitcast(0, dtype=dtypes.int32), dtype=dtypes.uint32)
    same = draft.bitcast(draft.bitcast(0, dtype=dtypes.int32), dtype=dtypes.float32)
    simplified = laws.check(draft.program(bits, same), [laws.nasty(dtypes.float32)])
    assert laws.names(simplified) == ["bitcast"]


def test_truth_cast_and_compared_with_zero(laws):
    draft = laws.Draft(((2,), dtypes.bool_))
    number = draft.cast(0, dtype=dtypes.float32)
    zero = draft.like(0.0, number)
    outputs = draft.not_equal(number, zero), draft.equal(number, zero)
    simplified = laws.check(draft.program(*outputs), [laws.nasty(dtypes.bool_)])
    assert laws.names(simplified) == ["bitwise_invert"]


def test_parts_of_complex_numbers(laws):
    parts = laws.combinations(dtypes.float32, dtypes.float32)
    draft = laws.Draft((parts[0].shape, dtypes.float32), (parts[0].shape, dtypes.float32))
    number = draft.complex_(0, 1)
    program = draft.program(draft.real(number), draft.imag(number))
    assert laws.names(laws.check(program, parts)) == []

    draft = laws.Draft(((36,), dtypes.complex64))
    program = draft.program(draft.complex_(draft.real(0), draft.imag(0)))
    assert laws.names(laws.check(program, [laws.nasty(dtypes.complex64)])) == []


COMPLEX_OPS = ["multiply", "divide", "add", "subtract"]


@pytest.mark.parametrize("name", COMPLEX_OPS)
@pytest.mark.parametrize("value", [1, 0, -0.0])
def test_complex_arithmetic_with_constants_stays(laws, name, value):
    draft = laws.Draft(((36,), dtypes.complex64))
    program = draft.program(getattr(draft, name)(0, draft.like(complex(value), 0)))
    simplified = laws.check(program, [laws.nasty(dtypes.complex64)])
    assert laws.names(simplified) == [name]


# Folding

FOLDED = [
    "negative", "abs_", "sign", "floor", "ceil", "trunc", "rint", "sqrt", "bitwise_invert", "add",
    "subtract", "multiply", "divide", "maximum", "minimum", "floor_divide", "remainder", "power",
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "equal", "not_equal",
    "less", "less_equal", "greater", "greater_equal", "exp", "arctan2",
]  # fmt: skip


@pytest.mark.parametrize("name", FOLDED)
def test_folding_keeps_bits(laws, name):
    """All combinations of the constants that stay in programs, in every dtype, in one program."""
    primitive = getattr(ops, name)
    draft = laws.Draft()
    outputs = []
    for dtype in dtypes.ALL:
        values = [0, 1, -1, 2] if dtype.kind != "bool" else [False, True]
        if dtype.kind == "floating":
            values = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.inf, -math.inf, math.nan]
        if dtype.kind == "unsigned":
            values = [0, 1, 2]
        if dtype.kind == "complex":
            continue
        count = len(primitive.operands)
        try:
            primitive.rule((TensorType((), dtype),) * count, ())
        except LaminaError:
            continue
        scalars = [draft.constant(value=value, dtype=dtype) for value in values]
        for first in scalars:
            for second in scalars if count == 2 else [None]:
                operands = [first] if second is None else [first, second]
                outputs.append(getattr(draft, name)(*operands))
    simplified = laws.check(draft.program(*outputs), [])
    left = laws.names(simplified)
    if name in ("exp", "arctan2"):
        assert set(left) == {name}
    else:
        assert len(left) < len(outputs)


def test_a_fold_that_makes_a_literal_or_a_new_nan_stays(laws):
    draft = laws.Draft()
    one, two = (draft.constant(value=v, dtype=dtypes.int32) for v in (1, 2))
    zero = draft.constant(value=0.0, dtype=dtypes.float32)
    outputs = draft.add(one, two), draft.divide(zero, zero)
    assert laws.names(laws.check(draft.program(*outputs), [])) == ["add", "divide"]


def test_arrays_of_one_value_are_folded(laws):
    draft = laws.Draft()
    ones = draft.splat(1.0, (3, 4), dtypes.float32)
    twos = draft.add(ones, ones)
    program = draft.program(draft.subtract(twos, draft.divide(twos, ones)))
    simplified = laws.check(program, [])
    assert [i.primitive.name for i in simplified.instructions] == [
        "constant", "reshape", "broadcast",
    ]  # fmt: skip
