"""Draws from distributions.

Integers and uniform floats are exact functions of the generator's words. Where the arguments are
Python numbers, a distribution is computed on the words before they are joined, so that a compiled
draw is a kernel that makes words and numbers at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dialects import ops
from ...dialects.primitive import Shape
from ...errors import ArgumentError, DTypeError, ShapeError
from .. import graph
from ..array import Array, wrap
from ..bits import view as view_bits
from ..devices import StreamLike, check_stream
from ..dtypes import (
    DType,
    bool_,
    canonical_scalar,
    complex64,
    float16,
    float32,
    float64,
    iinfo,
    int32,
    require_dtype,
    uint8,
    uint16,
    uint32,
)
from ..elementwise import (
    abs,
    add,
    bitwise_and,
    bitwise_or,
    divide,
    erf,
    erfinv,
    floor,
    greater,
    less_equal,
    log,
    log1p,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    sign,
    subtract,
)
from ..graph import Node
from ..operands import (
    NUMBERS,
    array_node,
    as_index,
    as_shape,
    broadcast,
    broadcast_shape,
    cast,
    common_shape,
    constant,
    error,
    filled,
    normalize_axis,
    reshape,
    slice_axis,
)
from ..reductions import argmax, sum
from ..scans import cumsum
from ..statistics import softmax
from .state import key_node
from .threefry import words

_ROOT = math.sqrt(2)
_WIDTHS = {1: uint8, 2: uint16, 4: uint32}
_BELOW_ONE = {float16: 1 - 2.0**-11, float32: 1 - 2.0**-24}
"""The largest numbers below 1; bfloat16's is below."""
_BFLOAT16_BELOW_ONE = 1 - 2.0**-8

Transform = Callable[[Array], Array]


def _size(shape: Shape) -> int:
    return math.prod(shape)


def _joined(pieces: Sequence[Node], shape: Shape) -> Node:
    node = pieces[0]
    if len(pieces) > 1:
        node = graph.apply(ops.concatenate, tuple(pieces), (0,))
    return reshape(node, shape)


def _drawn(function: str, key: Any, shape: Shape, transform: Transform) -> Array:
    """What an elementwise function makes of the words of a draw."""
    pieces = words(key_node(function, key), _size(shape))
    return wrap(_joined([transform(wrap(piece)).node for piece in pieces], shape))


def _float_dtype(function: str, dtype: DType | None, *kinds: DType) -> DType:
    """The dtype argument, checked: real floats but for float64, and further kinds."""
    found = require_dtype(dtype or float32, function)
    is_short = found.kind == "floating" and found is not float64
    if not is_short and found not in kinds:
        raise error(DTypeError, function, f"does not make {found.name} numbers")
    return found


def _unit(dtype: DType) -> Transform:
    """Words as floats in [0, 1)."""
    highest = _BELOW_ONE.get(dtype, _BFLOAT16_BELOW_ONE)

    def transform(word: Array) -> Array:
        number = multiply(wrap(cast(word.node, float32)), 2.0**-32)
        return wrap(cast(minimum(number, highest).node, dtype))

    return transform


def _between(dtype: DType, low: float, high: float) -> Transform:
    """Words as floats in [low, high), numbers of the dtype."""
    unit = _unit(dtype)
    if low == 0 and high == 1:
        return unit
    kind = dtype.numpy.type
    with np.errstate(all="ignore"):
        width = float(kind(high) - kind(low))
    return lambda word: add(multiply(unit(word), width), low)


def _real(function: str, value: Any, dtype: DType) -> Node:
    """A real operand as a node of a dtype."""
    if isinstance(value, NUMBERS) and not isinstance(value, complex):
        return constant(value, dtype)
    node = array_node(function, value)
    if node.dtype.kind == "complex":
        raise error(DTypeError, function, "takes real numbers", node)
    return cast(node, dtype)


def _rounded(value: Any, dtype: DType) -> float:
    """A Python number rounded to a real float dtype."""
    rounded = canonical_scalar(value, dtype)
    assert not isinstance(rounded, complex)
    return float(rounded)


def _is_number(*values: Any) -> bool:
    return all(isinstance(value, (bool, int, float)) for value in values)


def _uniform(function: str, low: Any, high: Any, shape: Shape, dtype: DType, key: Any) -> Array:
    """Uniform floats in [low, high) for numbers and arrays that broadcast to the shape."""
    if _is_number(low, high):
        bounds = [_rounded(value, dtype) for value in (low, high)]
        return _drawn(function, key, shape, _between(dtype, *bounds))
    least, end = _real(function, low, dtype), _real(function, high, dtype)
    _check_parameters(function, shape, least, end)
    unit = _drawn(function, key, shape, _unit(dtype))
    return add(multiply(unit, subtract(wrap(end), wrap(least))), wrap(least))


def _check_parameters(function: str, shape: Shape, *nodes: Node) -> None:
    """ShapeError unless parameters broadcast to the shape of a draw."""
    common = common_shape(function, nodes)
    if broadcast_shape(common, shape) != shape:
        text = f"parameters of shape {common} do not broadcast to {shape}"
        raise error(ShapeError, function, text, *nodes)


def bits(shape: Any = (), width: int = 4, key: Any = None, *, stream: StreamLike = None) -> Array:
    """Random bits.

    Narrow integers are the bytes of the generator's words, the lowest first.

    Args:
        shape: a size or a sequence of sizes.
        width: the bytes of an element: 1, 2 or 4.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Returns uint8, uint16 or uint32. Raises ShapeError for negative sizes and ArgumentError for
    another width.
    """
    check_stream(stream)
    sizes = as_shape("bits", shape)
    dtype = _WIDTHS.get(as_index("bits", width, "width"))
    if dtype is None:
        raise error(ArgumentError, "bits", f"width must be 1, 2 or 4, got {width}")
    count = _size(sizes)
    number = -(-count * dtype.size // 4)
    whole = _joined(words(key_node("bits", key), number), (number,))
    narrow = view_bits(whole, dtype)
    return wrap(reshape(slice_axis(narrow, 0, 0, count), sizes))


def uniform(
    low: Any = 0,
    high: Any = 1,
    shape: Any = (),
    dtype: DType | None = float32,
    key: Any = None,
    stream: StreamLike = None,
) -> Array:
    """Uniform floats in ``[low, high)``.

    Args:
        low, high: numbers or arrays that broadcast to the shape.
        shape: a size or a sequence of sizes.
        dtype: float32, float16 or bfloat16; None is float32.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes and bounds that do not broadcast to the shape, and
    DTypeError for other dtypes.
    """
    check_stream(stream)
    kind = _float_dtype("uniform", dtype)
    return _uniform("uniform", low, high, as_shape("uniform", shape), kind, key)


def randint(
    low: Any,
    high: Any,
    shape: Any = (),
    dtype: DType | None = int32,
    key: Any = None,
    stream: StreamLike = None,
) -> Array:
    """Uniform integers in ``[low, high)``; ``low`` where the interval is empty.

    They are made of float32 numbers, so of an interval wider than 2**24 not every integer is drawn.

    Args:
        low, high: numbers or arrays that broadcast to the shape.
        shape: a size or a sequence of sizes.
        dtype: an integer dtype or bool; None is int32.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes and bounds that do not broadcast to the shape, DTypeError
    for other dtypes, and ArgumentError for Python numbers that the dtype does not hold.
    """
    check_stream(stream)
    kind = require_dtype(dtype or int32, "randint")
    sizes = as_shape("randint", shape)
    if kind.kind not in ("bool", "unsigned", "signed"):
        raise error(DTypeError, "randint", f"makes integers and bools, not {kind.name}")
    if _is_number(low, high):
        return _drawn("randint", key, sizes, _integers(low, high, kind))
    nodes = [array_node("randint", value) for value in (low, high)]
    number = _uniform("randint", low, high, sizes, float32, key)
    least, end = [wrap(cast(node, kind)) for node in nodes]
    return _clamped(number, kind, least, None if kind is bool_ else subtract(end, 1))


def _integers(low: float, high: float, dtype: DType) -> Transform:
    """Words as integers in [low, high)."""
    least, last = [_whole(value) for value in (low, high)]
    if dtype is not bool_:
        last = max(last - 1, least)
        limits = iinfo(dtype)
        if least < limits.min or last > limits.max:
            text = f"{dtype.name} does not hold all integers from {low} to {high} - 1"
            raise error(ArgumentError, "randint", text)
    between = _between(float32, *[_rounded(x, float32) for x in (low, high)])

    def transform(word: Array) -> Array:
        shape = word.shape
        bounds = [wrap(filled(value, dtype, shape)) for value in (least, last)]
        return _clamped(between(word), dtype, bounds[0], None if dtype is bool_ else bounds[1])

    return transform


def _whole(value: float) -> int:
    if not math.isfinite(value):
        raise error(ArgumentError, "randint", f"bounds must be finite, got {value}")
    return int(value)


def _clamped(number: Array, dtype: DType, least: Array, last: Array | None) -> Array:
    """Floats rounded down to integers within bounds; bools have a lower one only."""
    whole = floor(number)
    if last is None:
        return bitwise_or(not_equal(whole, 0), least)
    return maximum(minimum(wrap(cast(whole.node, dtype)), last), least)


def bernoulli(p: Any = 0.5, shape: Any = None, key: Any = None, stream: StreamLike = None) -> Array:
    """Bools that are True with probability ``p``.

    Args:
        p: a number, or a real array of floats that broadcasts to the shape.
        shape: a size or a sequence of sizes; None is the shape of ``p``.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes or where ``p`` does not broadcast to the shape, and
    DTypeError for other dtypes of ``p``.
    """
    check_stream(stream)
    unit = _unit(float32)
    if _is_number(p):
        sizes = () if shape is None else as_shape("bernoulli", shape)
        # Not even a word of 0 is a success where there is no probability.
        limit = float(p) if p > 0 else -1.0
        return _drawn("bernoulli", key, sizes, lambda word: less_equal(unit(word), limit))
    node = array_node("bernoulli", p)
    if node.dtype.kind != "floating":
        raise error(DTypeError, "bernoulli", "p must be of a real float dtype", node)
    sizes = node.shape if shape is None else as_shape("bernoulli", shape)
    _check_parameters("bernoulli", sizes, node)
    chance = wrap(node)
    hit = less_equal(_drawn("bernoulli", key, sizes, unit), chance)
    return bitwise_and(hit, greater(chance, 0))


def normal(
    shape: Any = (),
    dtype: DType | None = float32,
    loc: Any = None,
    scale: Any = None,
    key: Any = None,
    stream: StreamLike = None,
) -> Array:
    """Normal numbers; complex ones have independent parts of variance 1/2.

    Args:
        shape: a size or a sequence of sizes.
        dtype: a float dtype or complex64; None is float32. float64 has the resolution of float32.
        loc: the mean, a number or an array that broadcasts with the shape; None is 0.
        scale: the standard deviation, likewise; None is 1.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Returns an array of the shape, or of the one that ``loc`` and ``scale`` make of it. Raises
    ShapeError for negative sizes and shapes that do not broadcast, and DTypeError for other dtypes.
    """
    check_stream(stream)
    kind = _float_dtype("normal", dtype, float64, complex64)
    sizes = as_shape("normal", shape)
    if kind is complex64:
        parts = _drawn("normal", key, (*sizes, 2), _normal(float32, 1.0))
        result = wrap(reshape(view_bits(parts.node, complex64), sizes))
        return _placed("normal", result, loc, scale)
    if scale is None or _is_number(scale):
        factor = 1.0 if scale is None else _rounded(scale, kind)
        with np.errstate(all="ignore"):
            factor = float(kind.numpy.type(factor) * kind.numpy.type(_ROOT))
        transform = _normal(kind, factor)
        if _is_number(loc):
            return _drawn("normal", key, sizes, lambda word: add(transform(word), loc))
        return _placed("normal", _drawn("normal", key, sizes, transform), loc, None)
    result = _drawn("normal", key, sizes, _normal(kind, 1.0))
    root = multiply(wrap(_real("normal", scale, kind)), _ROOT)
    return _placed("normal", result, loc, root)


def _normal(dtype: DType, factor: float) -> Transform:
    """Words as normal numbers of variance 1/2, times a factor."""
    between = _between(float32, -_BELOW_ONE[float32], 1.0)

    def transform(word: Array) -> Array:
        number = wrap(cast(erfinv(between(word)).node, dtype))
        return number if factor == 1.0 else multiply(number, factor)

    return transform


def _placed(function: str, array: Array, loc: Any, scale: Any) -> Array:
    """``array * scale + loc`` in the array's dtype; None leaves a part out."""
    dtype = array.dtype
    for value, combine in ((scale, multiply), (loc, add)):
        if value is None:
            continue
        is_complex = dtype is complex64
        node = cast(array_node(function, value), dtype) if is_complex else None
        array = combine(array, wrap(node or _real(function, value, dtype)))
    return array


def truncated_normal(
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: DType | None = float32,
    key: Any = None,
    stream: StreamLike = None,
) -> Array:
    """Normal numbers between bounds.

    The interval is one of the distribution function in the dtype, so far out in a tail (beyond 5 or
    so for float32) the bounds themselves are drawn.

    Args:
        lower, upper: numbers or arrays that broadcast to the shape.
        shape: a size or a sequence of sizes; None is the shape of the bounds.
        dtype: float32, float16 or bfloat16; None is float32.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes and bounds that do not broadcast to the shape, and
    DTypeError for other dtypes.
    """
    check_stream(stream)
    name = "truncated_normal"
    kind = _float_dtype(name, dtype)
    nodes = [_real(name, value, kind) for value in (lower, upper)]
    common = common_shape(name, nodes)
    sizes = common if shape is None else as_shape(name, shape)
    _check_parameters(name, sizes, *nodes)
    low, high = map(wrap, nodes)
    ends = [erf(divide(bound, _ROOT)) for bound in (low, high)]
    number = multiply(erfinv(_uniform(name, ends[0], ends[1], sizes, kind, key)), _ROOT)
    return maximum(minimum(number, high), low)


def gumbel(
    shape: Any = (),
    dtype: DType | None = float32,
    key: Any = None,
    stream: StreamLike = None,
) -> Array:
    """Numbers of the standard Gumbel distribution, whose function is ``exp(-exp(-x))``.

    Args:
        shape: a size or a sequence of sizes.
        dtype: float32, float16 or bfloat16; None is float32.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes and DTypeError for other dtypes.
    """
    check_stream(stream)
    kind = _float_dtype("gumbel", dtype)
    return _gumbel("gumbel", as_shape("gumbel", shape), kind, key)


def _gumbel(function: str, shape: Shape, dtype: DType, key: Any) -> Array:
    unit = _unit(dtype)
    return _drawn(function, key, shape, lambda word: negative(log(negative(log(unit(word))))))


def laplace(
    shape: Any = (),
    dtype: DType | None = float32,
    loc: float = 0.0,
    scale: float = 1.0,
    key: Any = None,
    stream: StreamLike = None,
) -> Array:
    """Numbers of the Laplace distribution, with the density ``exp(-|x - loc| / scale)``, normed.

    Args:
        shape: a size or a sequence of sizes.
        dtype: a real float dtype; None is float32. float64 has the resolution of float32.
        loc: the mean.
        scale: the mean distance from it.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes and DTypeError for other dtypes.
    """
    check_stream(stream)
    kind = _float_dtype("laplace", dtype, float64)
    between = _between(float32, -_BELOW_ONE[float32], 1.0)

    def transform(word: Array) -> Array:
        number = wrap(cast(between(word).node, float64 if kind is float64 else float32))
        spread = multiply(sign(number), log1p(negative(abs(number))))
        return wrap(cast(spread.node, kind))

    result = _drawn("laplace", key, as_shape("laplace", shape), transform)
    is_standard = _is_number(loc, scale) and loc == 0 and scale == 1
    return result if is_standard else _placed("laplace", result, loc, scale)


def categorical(
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    num_samples: int | None = None,
    key: Any = None,
    stream: StreamLike = None,
) -> Array:
    """Indices along an axis, with probabilities that are proportional to ``exp(logits)``.

    Args:
        logits: a real array.
        axis: the axis of the distributions.
        shape: the shape of the result, to which that of ``logits`` without the axis broadcasts;
            None is that shape.
        num_samples: draws this often from each distribution, along a new last axis.
        key: uint32 of shape (2,); None takes one from the state.
        stream: where to run; None is the default device.

    Returns uint32. Raises AxisError for an axis that ``logits`` does not have, ArgumentError if
    both ``shape`` and ``num_samples`` are given, and ShapeError for a shape that does not fit, a
    negative number or an axis without elements.
    """
    check_stream(stream)
    name = "categorical"
    node = array_node(name, logits)
    if node.dtype.kind == "complex":
        raise error(DTypeError, name, "takes real logits", node)
    place = normalize_axis(name, axis, node)
    if shape is not None and num_samples is not None:
        raise error(ArgumentError, name, "takes one of shape and num_samples, not both", node)
    extent = node.shape[place]
    if not extent:
        raise error(ShapeError, name, "the axis has no elements to draw from", node)
    rest = node.shape[:place] + node.shape[place + 1 :]
    sizes = rest
    if num_samples is not None:
        sizes = (*rest, *as_shape(name, num_samples))
        node = reshape(node, (*node.shape, 1))
    elif shape is not None:
        sizes = as_shape(name, shape)
        if broadcast_shape(rest, sizes) != sizes:
            text = f"distributions of shape {rest} do not broadcast to {sizes}"
            raise error(ShapeError, name, text, node)
        place += len(sizes) - len(rest)
    if sizes and _size(node.shape) == extent:
        return _indices(reshape(node, (extent,)), sizes, key)
    full = (*sizes[:place], extent, *sizes[place:])
    noise = _gumbel(name, full, float32, key)
    return argmax(add(wrap(broadcast(node, full)), noise), place)


def _indices(logits: Node, shape: Shape, key: Any) -> Array:
    """Draws from one distribution, by the inverse of its distribution function."""
    (extent,) = logits.shape
    below = cumsum(softmax(wrap(cast(logits, float32)), 0))
    total = wrap(reshape(slice_axis(below.node, 0, extent - 1, 1), ()))
    number = multiply(_drawn("categorical", key, shape, _unit(float32)), total)
    passed = less_equal(below, wrap(reshape(number.node, (*shape, 1))))
    # A product that was rounded up to the total is of the last index.
    return minimum(wrap(cast(sum(passed, -1).node, uint32)), extent - 1)
