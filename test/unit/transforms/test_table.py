"""Every primitive has its derivative and its batching rule, or a reason why it has none.

Derivatives are compared with differences in float64, forwards and backwards, and once more for
their own derivatives; batching with one example after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differences import array64, difference

import lamina as lm
from lamina.dialects import ops
from lamina.dialects.dtypes import complex64, float32, float64
from lamina.dialects.primitive import TABLE, Primitive
from lamina.frontend import graph
from lamina.frontend.array import Array, wrap
from lamina.frontend.transforms import batching, derivatives, transposes, walks

SEED = np.random.default_rng(7)


def uniform(low: float, high: float, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """Distinct values, well inside of an interval and in no order."""
    count = int(np.prod(shape))
    values = low + (high - low) * (np.arange(count) + SEED.uniform(0.2, 0.8)) / max(count, 1)
    return SEED.permutation(values).reshape(shape)


ANY, POSITIVE, UNIT = (-1.7, 1.9), (0.3, 2.1), (-0.85, 0.9)
SPREAD = uniform(-2, 2, (3, 4))

ELEMENTWISE: dict[Primitive, tuple[tuple[float, float], ...]] = {
    **dict.fromkeys(
        (
            ops.negative, ops.abs_, ops.exp, ops.expm1, ops.sin, ops.cos, ops.sinh, ops.cosh,
            ops.tanh, ops.arctan, ops.arcsinh, ops.erf, ops.sigmoid,
        ),
        (ANY,),
    ),
    **dict.fromkeys(
        (ops.sqrt, ops.rsqrt, ops.log, ops.log1p, ops.log2, ops.log10), (POSITIVE,)
    ),
    **dict.fromkeys((ops.arcsin, ops.arccos, ops.arctanh, ops.erfinv, ops.tan), (UNIT,)),
    ops.arccosh: ((1.2, 3.0),),
    **dict.fromkeys(
        (
            ops.add, ops.subtract, ops.multiply, ops.maximum, ops.minimum, ops.arctan2,
            ops.logaddexp,
        ),
        (ANY, ANY),
    ),
    ops.divide: (ANY, POSITIVE),
    ops.remainder: ((0.3, 4.9), (1.7, 1.9)),
    ops.power: (POSITIVE, ANY),
}  # fmt: skip

Case = tuple[Primitive, list[np.ndarray], tuple[Any, ...]]
CASES: list[Case] = [
    *[(p, [uniform(*domain) for domain in domains], ()) for p, domains in ELEMENTWISE.items()],
    (ops.cast, [uniform(*ANY)], (float64,)),
    (ops.select, [np.arange(6).reshape(2, 3) % 2 == 0, uniform(*ANY), uniform(*ANY)], ()),
    (ops.reshape, [uniform(*ANY)], ((3, 2),)),
    (ops.transpose, [uniform(*ANY, (2, 3, 4))], ((2, 0, 1),)),
    (ops.broadcast, [uniform(*ANY, (2, 1))], ((2, 3),)),
    (ops.slice_, [SPREAD], ((0, 1), (2, 3), (1, 1))),
    (ops.slice_, [SPREAD], ((2, 1), (2, 2), (-2, 2))),
    (ops.slice_update, [SPREAD, uniform(*ANY, (2, 2))], ((2, 1), (-1, 2))),
    (ops.pad, [uniform(*ANY), np.float64(0.7)], ((1, 0), (2, 1))),
    (ops.concatenate, [uniform(*ANY), uniform(*ANY, (2, 1)), uniform(*ANY)], (1,)),
    (ops.reduce_sum, [SPREAD], ((1,),)),
    (ops.reduce_prod, [uniform(*ANY, (2, 3, 2))], ((0, 2),)),
    (ops.reduce_max, [SPREAD], ((0, 1),)),
    (ops.reduce_min, [SPREAD], ((1,),)),
    *[
        (primitive, [uniform(*ANY, (3, 5))], (1, reverse, inclusive))
        for primitive in (ops.cumsum, ops.cumprod, ops.cummax, ops.cummin)
        for reverse in (False, True)
        for inclusive in (False, True)
    ],
    (ops.matmul, [uniform(*ANY, (2, 3)), uniform(*ANY, (3, 4))], ()),
    (ops.matmul, [uniform(*ANY, (2, 2, 3)), uniform(*ANY, (2, 3, 2))], ()),
]

NAMES = [f"{primitive.name}-{i}" for i, (primitive, _, _) in enumerate(CASES)]
BY_PARTS = {ops.real, ops.imag, ops.complex_}
"""Primitives of complex numbers, which have tests of their own below."""


def applied(primitive: Primitive, attributes: tuple[Any, ...], *arrays: Array) -> Array:
    return wrap(graph.apply(primitive, tuple(array.node for array in arrays), attributes))


def given(operands: list[np.ndarray]) -> list[Array]:
    return [lm.array(x) if x.dtype == bool else array64(x) for x in map(np.asarray, operands)]


def of_floats(case: Case) -> tuple[Any, list[np.ndarray]]:
    """The primitive as a function of its floating operands only, and these."""
    primitive, operands, attributes = case
    fixed = {i: lm.array(x) for i, x in enumerate(operands) if x.dtype == bool}

    def function(*arrays: Array) -> Array:
        rest = iter(arrays)
        inputs = [fixed[i] if i in fixed else next(rest) for i in range(len(operands))]
        result = applied(primitive, attributes, *inputs)
        # What exclusive extrema begin with is infinite.
        return lm.where(lm.isinf(result), 0.0, result)

    return function, [x for i, x in enumerate(operands) if i not in fixed]


def numpy_function(function: Any) -> Any:
    return lambda *points: np.asarray(function(*map(array64, points)))


def test_every_primitive_has_a_derivative_or_a_reason() -> None:
    for primitive in TABLE.values():
        has_rule = primitive in walks.DERIVATIVES
        assert has_rule != (primitive in derivatives.WITHOUT), primitive
    assert all(derivatives.WITHOUT.values())


def test_every_primitive_has_a_batching_rule_or_a_reason() -> None:
    for primitive in TABLE.values():
        has_rule = primitive in batching.BATCHING
        assert has_rule != (primitive in batching.WITHOUT), primitive
    assert all(batching.WITHOUT.values())


def test_every_primitive_with_a_derivative_is_compared_with_differences() -> None:
    compared = {primitive for primitive, _, _ in CASES} | BY_PARTS
    with_derivative = {p for p in walks.DERIVATIVES if isinstance(p, Primitive)}
    assert with_derivative == compared
    assert set(transposes.TRANSPOSES) <= with_derivative


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_derivatives_are_those_of_differences(case: Case) -> None:
    function, points = of_floats(case)
    directions = [uniform(-1, 1, x.shape) for x in points]
    expected = difference(numpy_function(function), points, directions)
    primals, tangents = list(map(array64, points)), list(map(array64, directions))
    _, (tangent,) = lm.jvp(function, primals, tangents)
    np.testing.assert_allclose(np.asarray(tangent), expected, rtol=1e-8, atol=1e-8)
    cotangent = uniform(-1, 1, expected.shape)
    _, products = lm.vjp(function, primals, [array64(cotangent)])
    paired = sum(np.vdot(np.asarray(p), d) for p, d in zip(products, directions, strict=True))
    np.testing.assert_allclose(paired, np.vdot(cotangent, expected), rtol=1e-8, atol=1e-8)
    assert [p.dtype for p in products] == [lm.float64] * len(points)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_second_derivatives_are_those_of_differences(case: Case) -> None:
    function, points = of_floats(case)
    weights = array64(uniform(-1, 1, numpy_function(function)(*points).shape))

    def loss(*arrays: Array) -> Array:
        return (lm.sin(function(*arrays)) * weights).sum()

    positions = tuple(range(len(points)))
    gradient = lm.grad(loss, argnums=positions)

    def first(*arrays: np.ndarray) -> np.ndarray:
        found = gradient(*map(array64, arrays))
        found = found if isinstance(found, tuple) else (found,)
        return np.concatenate([np.asarray(g).ravel() for g in found])

    directions = [uniform(-1, 1, x.shape) for x in points]
    expected = difference(first, points, directions, 1e-4)

    def along(*arrays: Array) -> Array:
        found = gradient(*arrays)
        found = found if isinstance(found, tuple) else (found,)
        pairs = zip(found, directions, strict=True)
        return sum(((g * array64(d)).sum() for g, d in pairs), lm.array(0.0, lm.float64))

    second = lm.grad(along, argnums=positions)(*map(array64, points))
    second = second if isinstance(second, tuple) else (second,)
    got = np.concatenate([np.asarray(g).ravel() for g in second])
    # The Hessian is symmetric, so either side of it may be multiplied by the direction.
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=2e-6)
    _, (forward,) = lm.jvp(
        lambda *arrays: lm.concatenate([lm.flatten(g) for g in _tuple(gradient(*arrays))]),
        list(map(array64, points)),
        list(map(array64, directions)),
    )
    np.testing.assert_allclose(np.asarray(forward), got, rtol=1e-9, atol=1e-9)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def examples(values: np.ndarray, count: int) -> np.ndarray:
    """Other values of the same kind for each example."""
    if values.dtype == bool:
        return np.stack([np.roll(values, i) for i in range(count)])
    step = 1 if values.dtype.kind == "i" else 0.01
    return np.stack([values + step * i for i in range(count)])


INTEGERS: list[Case] = [
    *[
        (primitive, [np.arange(6).reshape(2, 3), np.arange(6)[::-1].reshape(2, 3) - 2], ())
        for primitive in (
            ops.floor_divide, ops.bitwise_and, ops.bitwise_or, ops.bitwise_xor, ops.left_shift,
            ops.right_shift, ops.equal, ops.not_equal, ops.less, ops.less_equal, ops.greater,
            ops.greater_equal,
        )
    ],
    (ops.bitwise_invert, [np.arange(6).reshape(2, 3)], ()),
    (ops.sign, [np.arange(-3, 3).reshape(2, 3)], ()),
    (ops.bitcast, [np.arange(6).reshape(2, 3)], (float32,)),
    (ops.argmax, [np.arange(6).reshape(2, 3) % 4], (1,)),
    (ops.argmin, [np.arange(6).reshape(2, 3) % 4], (0,)),
    (ops.reduce_and, [np.arange(6).reshape(2, 3) > 1], ((0,),)),
    (ops.reduce_or, [np.arange(6).reshape(2, 3) > 1], ((1,),)),
    *[(p, [uniform(*ANY)], ()) for p in (ops.floor, ops.ceil, ops.trunc, ops.rint)],
]  # fmt: skip
BATCHED = [*CASES, *INTEGERS]


def as_arrays(operands: list[np.ndarray]) -> list[Array]:
    return [
        lm.array(x.astype(np.int32)) if x.dtype.kind == "i" else given([x])[0]
        for x in map(np.asarray, operands)
    ]


@pytest.mark.parametrize(
    "case", BATCHED, ids=[f"{case[0].name}-{i}" for i, case in enumerate(BATCHED)]
)
def test_batches_are_one_example_after_the_other(case: Case) -> None:
    primitive, operands, attributes = case
    operands = list(map(np.asarray, operands))
    count = len(operands)
    for mapped in {*range(1, 1 << min(count, 2)), (1 << count) - 1}:
        flags = [bool(mapped >> i & 1) for i in range(count)]
        stacked = [examples(x, 3) if flag else x for x, flag in zip(operands, flags, strict=True)]
        axes = tuple(0 if flag else None for flag in flags)
        function = lm.vmap(lambda *xs: applied(primitive, attributes, *xs), in_axes=axes)
        got = np.asarray(function(*as_arrays(stacked)))
        for i in range(3):
            one = [x[i] if flag else x for x, flag in zip(stacked, flags, strict=True)]
            expected = np.asarray(applied(primitive, attributes, *as_arrays(one)))
            np.testing.assert_allclose(got[i], expected, rtol=1e-14)


def test_every_batching_rule_is_compared() -> None:
    compared = {primitive for primitive, _, _ in BATCHED} | BY_PARTS
    assert {p for p in batching.BATCHING if isinstance(p, Primitive)} == compared


def test_complex_numbers_by_their_parts() -> None:
    z = np.array([1 + 2j, 3 - 1j], np.complex64)
    for function, slopes in (
        (lambda z: lm.real(z), [1, 1]),
        (lambda z: lm.imag(z), [1j, 1j]),
        (lambda z: lm.real(z * (2 + 3j)), [2 - 3j, 2 - 3j]),
        (lambda z: lm.abs(z), z / np.abs(z)),
        (lambda z: lm.real(z / (1 + 1j)), [1 / (1 - 1j)] * 2),
        (lambda z: lm.real(z * lm.conj(z)), 2 * z),
    ):
        gradient = lm.grad(lambda z, f=function: f(z).sum())(lm.array(z))
        assert gradient.dtype is complex64
        np.testing.assert_allclose(np.asarray(gradient), slopes, rtol=1e-6)
    x, y = lm.array([1.0, 2.0]), lm.array([3.0, -1.0])

    def squared(x, y):
        z = wrap(graph.apply(ops.complex_, (x.node, y.node)))
        return lm.real(z * z).sum()

    by_x, by_y = lm.grad(squared, argnums=(0, 1))(x, y)
    np.testing.assert_allclose(np.asarray(by_x), [2, 4])
    np.testing.assert_allclose(np.asarray(by_y), [-6, 2])
    whole = lm.vmap(lambda z: lm.real(z) * 2 + lm.imag(z))(lm.array(z))
    np.testing.assert_allclose(np.asarray(whole), [4, 5])
    made = lm.vmap(lambda x, y: wrap(graph.apply(ops.complex_, (x.node, y.node))))(x, y)
    np.testing.assert_allclose(np.asarray(made), [1 + 3j, 2 - 1j])
