"""The derivative of each primitive.

Where a function has no derivative, its rule gives a subgradient: 0 at the corner of ``abs``, a half
to each of two operands that tie in ``maximum``, equal shares to the elements that tie in ``max``,
the first of equals in ``cummax``; ``power`` at 0 to the 0 has slope 0 in both operands, ``arctan2``
at the origin too. Infinite slopes (``sqrt`` at 0) stay infinite, but a cotangent of 0 gives 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...dialects import ops
from ...dialects.primitive import Primitive
from ..graph import Node, make
from . import running
from .arithmetic import (
    absolute,
    add,
    compare,
    conjugate,
    cos,
    cosh,
    divide,
    equal,
    equals,
    exp,
    known_number,
    log,
    maximum,
    multiply,
    negative,
    number,
    rint,
    scale,
    select,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    zeros,
)
from .composite import LOGSUMEXP, SCALE, SOFTMAX, parameters_of
from .families import FLIPPED, SAME, Choice, Linear, Slopes, Tangent, Times
from .transposes import TRANSPOSES
from .walks import DERIVATIVES, Tangents

WITHOUT: dict[Primitive, str] = {
    primitive: reason
    for reason, primitives in {
        "has no operands": (ops.constant, ops.iota, ops.empty),
        "is constant between its steps": (ops.sign, ops.floor, ops.ceil, ops.trunc, ops.rint,
                                          ops.floor_divide),
        "gives bools": (ops.equal, ops.not_equal, ops.less, ops.less_equal, ops.greater,
                        ops.greater_equal),
        "works on bits": (ops.bitcast, ops.bitwise_invert, ops.bitwise_and, ops.bitwise_or,
                          ops.bitwise_xor, ops.left_shift, ops.right_shift),
        "reduces bools": (ops.reduce_and, ops.reduce_or),
        "gives positions": (ops.argmax, ops.argmin),
    }.items()
    for primitive in primitives
}  # fmt: skip
"""The primitives whose derivative is zero everywhere, and why."""


def _over(divisor: object, is_finite: bool = False, is_wide: bool = False) -> Times:
    return Times(divisor, ops.divide, is_finite, is_wide)  # pyright: ignore[reportArgumentType]


def _one_minus_square(x: Node) -> Node:
    one = number(1, x)
    return multiply(subtract(one, x), add(one, x))


def _one_plus_square(x: Node) -> Node:
    return add(number(1, x), square(x))


# Elementwise, one operand

DERIVATIVES.update({
    ops.negative: Slopes(FLIPPED),
    ops.abs_: Slopes(Times(lambda out, x: sign(x), is_finite=True)),
    ops.sqrt: Slopes(_over(lambda out, x: add(out, out))),
    ops.rsqrt: Slopes(Times(lambda out, x: divide(out, multiply(x, number(-2, x))), is_wide=True)),
    ops.exp: Slopes(Times(lambda out, x: out)),
    ops.expm1: Slopes(Times(lambda out, x: exp(x))),
    ops.log: Slopes(_over(lambda out, x: x)),
    ops.log1p: Slopes(_over(lambda out, x: add(x, number(1, x)))),
    ops.log2: Slopes(_over(lambda out, x: multiply(x, number(math.log(2), x)))),
    ops.log10: Slopes(_over(lambda out, x: multiply(x, number(math.log(10), x)))),
    ops.sin: Slopes(Times(lambda out, x: cos(x), is_finite=True)),
    ops.cos: Slopes(Times(lambda out, x: negative(sin(x)), is_finite=True)),
    ops.tan: Slopes(Times(lambda out, x: _one_plus_square(out), is_wide=True)),
    ops.sinh: Slopes(Times(lambda out, x: cosh(x))),
    ops.cosh: Slopes(Times(lambda out, x: sinh(x))),
    ops.tanh: Slopes(Times(lambda out, x: _one_minus_square(out), is_finite=True)),
    ops.arcsin: Slopes(_over(lambda out, x: sqrt(_one_minus_square(x)))),
    ops.arccos: Slopes(_over(lambda out, x: negative(sqrt(_one_minus_square(x))))),
    ops.arctan: Slopes(_over(lambda out, x: _one_plus_square(x), True, is_wide=True)),
    ops.arcsinh: Slopes(_over(lambda out, x: sqrt(_one_plus_square(x)), True, is_wide=True)),
    ops.arccosh: Slopes(_over(lambda out, x: sqrt(negative(_one_minus_square(x))), is_wide=True)),
    ops.arctanh: Slopes(_over(lambda out, x: _one_minus_square(x))),
    ops.erf: Slopes(Times(lambda out, x: _bell(x, 2 / math.sqrt(math.pi)), is_finite=True)),
    ops.erfinv: Slopes(Times(lambda out, x: _erfinv(out))),
    ops.sigmoid: Slopes(
        Times(lambda out, x: multiply(out, subtract(number(1, out), out)), is_finite=True)
    ),
})  # fmt: skip


def _bell(x: Node, height: float) -> Node:
    return multiply(exp(negative(square(x))), number(height, x))


def _erfinv(out: Node) -> Node:
    # The square is a product that counts as 0 where a change of it does, for infinite results.
    return multiply(exp(scale(out, out, ops.multiply)), number(math.sqrt(math.pi) / 2, out))


# Elementwise, two operands


def _power_by_base(out: Node, x: Node, y: Node) -> Node:
    known = known_number(y)
    if known is not None:
        less = number(known - 1, x)
        return multiply(y, make(ops.power, (x, less), (), x.shape, x.dtype)) if known else y
    less = subtract(y, number(1, y))
    slope = multiply(y, make(ops.power, (x, less), (), x.shape, x.dtype))
    return select(equals(y, 0), zeros(y), slope)


def _power_by_exponent(out: Node, x: Node, y: Node) -> Node:
    is_zero = equals(x, 0)
    return multiply(out, log(select(is_zero, number(1, x), x)))


def _share(better: Primitive) -> Slopes:
    """All to the operand that is better than the other, a half to each where they tie."""

    def share(tangent: Node, mine: Node, other: Node) -> Node:
        tie = select(equal(mine, other), multiply(tangent, number(0.5, tangent)), zeros(tangent))
        return select(compare(better, mine, other), tangent, tie)

    return Slopes(
        Choice(lambda tangent, out, x, y: share(tangent, x, y)),
        Choice(lambda tangent, out, x, y: share(tangent, y, x)),
    )


def _remainder_by_divisor(out: Node, x: Node, y: Node) -> Node:
    """Minus the floor of x / y, which is the exact quotient of ``out - x`` by y."""
    return rint(divide(subtract(out, x), y))


def _arctan2(numerator: int, out: Node, y: Node, x: Node) -> Node:
    """The point's other coordinate over its squared distance, scaled so that it keeps its range."""
    largest = maximum(absolute(x), absolute(y))
    safe = select(equals(largest, 0), number(1, x), largest)
    u, v = divide(x, safe), divide(y, safe)
    over = divide(u if numerator == 0 else negative(v), add(square(u), square(v)))
    return select(equals(largest, 0), zeros(x), divide(over, safe))


def _logaddexp(x: Node, y: Node) -> Node:
    return sigmoid(select(equal(x, y), zeros(x), subtract(x, y)))


DERIVATIVES.update({
    ops.add: Slopes(SAME, SAME),
    ops.subtract: Slopes(SAME, FLIPPED),
    ops.multiply: Slopes(
        Times(lambda out, x, y: y, is_finite=True), Times(lambda out, x, y: x, is_finite=True)
    ),
    ops.divide: Slopes(
        _over(lambda out, x, y: y), Times(lambda out, x, y: negative(divide(out, y)))
    ),
    ops.remainder: Slopes(SAME, Times(_remainder_by_divisor)),
    ops.power: Slopes(Times(_power_by_base), Times(_power_by_exponent)),
    ops.maximum: _share(ops.greater),
    ops.minimum: _share(ops.less),
    ops.arctan2: Slopes(
        Times(lambda out, y, x: _arctan2(0, out, y, x), is_wide=True),
        Times(lambda out, y, x: _arctan2(1, out, y, x), is_wide=True),
    ),
    ops.logaddexp: Slopes(
        Times(lambda out, x, y: _logaddexp(x, y), is_finite=True),
        Times(lambda out, x, y: _logaddexp(y, x), is_finite=True),
    ),
})  # fmt: skip


# Linear ops

for _primitive, _transpose in TRANSPOSES.items():
    DERIVATIVES[_primitive] = Linear(_transpose, (0,) if _primitive is ops.select else ())


# Contractions


class _Matmul:
    """Linear in each operand: the sum of two products forwards, a product for each backwards."""

    def forward(self, node: Node, operands: Sequence[Node], tangents: Tangents) -> Node | None:
        (x, y), (dx, dy) = operands, tangents
        pairs = [(dx, y)] if dx is not None else []
        if dy is not None:
            pairs.append((x, dy))
        parts = [make(ops.matmul, pair, (), node.shape, node.dtype) for pair in pairs]
        return parts[0] if len(parts) == 1 else add(*parts)

    def backward(
        self, node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        x, y = operands
        by_x = (cotangent, running.adjoint_matrix(y)) if wanted[0] else None
        by_y = (running.adjoint_matrix(x), cotangent) if wanted[1] else None
        return [
            make(ops.matmul, pair, (), operand.shape, operand.dtype) if pair else None
            for pair, operand in ((by_x, x), (by_y, y))
        ]


DERIVATIVES[ops.matmul] = _Matmul()

# Reductions and scans

DERIVATIVES.update({
    ops.reduce_prod: Tangent(running.product),
    ops.reduce_max: Tangent(running.extremum),
    ops.reduce_min: Tangent(running.extremum),
    ops.cumprod: Tangent(running.running_product),
    ops.cummax: Tangent(running.running_extremum),
    ops.cummin: Tangent(running.running_extremum),
    SOFTMAX: Tangent(running.softmax),
    LOGSUMEXP: Tangent(running.logsumexp),
})  # fmt: skip

# Products of derivatives


class _Scale:
    """The derivative of ``scale(factor, tangent)``: where the tangent is 0, so is the product."""

    def forward(self, node: Node, operands: Sequence[Node], tangents: Tangents) -> Node | None:
        (factor, _), (by_factor, by_tangent) = operands, tangents
        parts = []
        if by_factor is not None:
            parts.append(self._by_factor(node, operands, by_factor, False))
        if by_tangent is not None:
            parts.append(scale(factor, by_tangent, parameters_of(node)))
        return parts[0] if len(parts) == 1 else add(*parts)

    def backward(
        self, node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        factor = conjugate(operands[0])
        return [
            self._by_factor(node, operands, cotangent, True) if wanted[0] else None,
            scale(factor, cotangent, parameters_of(node)) if wanted[1] else None,
        ]

    def _by_factor(self, node: Node, operands: Sequence[Node], change: Node, adjoint: bool) -> Node:
        factor, tangent = operands
        slope = tangent
        if parameters_of(node) is ops.divide:
            slope = negative(divide(node, factor))
        if adjoint:
            slope = conjugate(slope)
        term = scale(slope, change, ops.multiply)
        return select(equals(tangent, 0), zeros(term), term)


DERIVATIVES[SCALE] = _Scale()
