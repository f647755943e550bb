"""Distributions: the values of MLX 0.32.4, bit for bit where no transcendental function is used."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest

import lamina as lm
from lamina.errors import ArgumentError, AxisError, DTypeError, ShapeError

nan = math.nan
KEY = lm.random.key(42)

# Seed, shape, dtype, bounds, and the CRC-32 of MLX's numbers.
UNIFORM = [
    (42, (1001,), "float32", (0, 1), 2976335542),
    (42, (1001,), "float32", (-3.3, 7.7), 4236198203),
    (42, (4, 5, 2), "float32", (0, 1), 3863586517),
    (42, (4, 5, 2), "float32", (-3.3, 7.7), 4172476978),
    (0, (7, 3), "float16", (0, 1), 801220473),
    (0, (7, 3), "float16", (-3.3, 7.7), 1445470151),
    (5, (1000,), "float16", (0, 1), 2165775273),
    (5, (1000,), "float16", (-3.3, 7.7), 1854626936),
    (5, (1000,), "bfloat16", (0, 1), 2093970575),
    (5, (1000,), "bfloat16", (-3.3, 7.7), 3569597917),
    (2**64 - 1, (), "float32", (0, 1), 3084977584),
    (2**64 - 1, (1,), "float32", (-3.3, 7.7), 3299251259),
    (9, (2,), "bfloat16", (0, 1), 3598895412),
    (9, (2,), "bfloat16", (-3.3, 7.7), 203058028),
]
# Bounds, dtype, and the CRC-32 of MLX's 501 integers for the key of 3.
RANDINT = [
    (0, 100, "int32", 2746007184),
    (-7, 9, "int32", 1413313024),
    (0.5, 10.7, "int32", 3484995605),
    (-3.7, -0.2, "int32", 1079740552),
    (10, 0, "int32", 556248503),
    (0, 2**24 + 1, "int32", 2054716678),
    (2**24 + 1, 2**24 + 3, "int32", 3597775287),
    (0, 2, "bool_", 2901380929),
    (0, 1, "bool_", 1657861142),
    (-1, 1, "bool_", 4128217851),
    (0, 2**32, "uint32", 2616059318),
    (0, 256, "uint8", 112065923),
    (-128, 128, "int8", 3066022503),
    (-(2**31), 2**31, "int32", 577711328),
    (-(2**62), 2**62, "int64", 2272105673),
    (0, 2**63 - 1, "uint64", 2671975452),
    (-5, 1000, "int16", 1710986419),
]
# Probabilities, and the CRC-32 of MLX's 501 bools for the key of 3.
BERNOULLI = [
    (0.3, 2478902108),
    (1.0, 4128217851),
    (0.0, 1657861142),
    (nan, 1657861142),
    (-1.0, 1657861142),
    (2.0, 4128217851),
]
# Five numbers of each distribution for the key of 42.
FLOATS = {
    "float32": {
        "normal": [0.61226541, 1.1225886, -0.85441303, -0.8127324, -0.8904047],
        "laplace": [-0.61551565, -1.3408918, 0.93426085, 0.87617749, 0.98551065],
        "gumbel": [1.1553133, 1.9647629, -0.48698866, -0.45064551, -0.51799464],
        "truncated_normal": [0.17963208, 0.43334895, -0.83240241, -0.80395573, -0.85669273],
    },
    "float16": {
        "normal": [0.61230469, 1.1230469, -0.85400391, -0.8125, -0.89013672],
        "laplace": [-0.61572266, -1.3408203, 0.93408203, 0.87597656, 0.98535156],
        "gumbel": [1.15625, 1.9638672, -0.48730469, -0.45068359, -0.51806641],
        "truncated_normal": [0.1809082, 0.43432617, -0.83203125, -0.80322266, -0.85693359],
    },
    "bfloat16": {
        "normal": [0.61328125, 1.125, -0.85546875, -0.8125, -0.890625],
        "laplace": [-0.6171875, -1.34375, 0.93359375, 0.875, 0.984375],
        "gumbel": [1.15625, 1.984375, -0.48632812, -0.45117188, -0.51953125],
        "truncated_normal": [0.17675781, 0.43359375, -0.828125, -0.80078125, -0.85546875],
    },
}
# Axis, arguments, and the CRC-32 of MLX's indices for logits of shape (3, 4, 5).
CATEGORICAL = [
    (0, {}, 2738891123),
    (0, {"shape": (7, 4, 5)}, 2761979807),
    (0, {"num_samples": 6}, 4030430290),
    (1, {}, 4049532072),
    (1, {"shape": (7, 3, 5)}, 3657816592),
    (2, {}, 3905593615),
    (2, {"num_samples": 6}, 2931294412),
    (-2, {"num_samples": 6}, 3181694811),
]


def checksum(array: lm.array) -> int:
    return zlib.crc32(bytes(array))


def close(array, expected, ulps: float = 8, dtype=None) -> None:
    """Within a few units in the last place of numbers of the size of 1."""
    epsilon = lm.finfo(dtype or array.dtype).eps
    np.testing.assert_allclose(
        np.array(array.astype(lm.float32)), expected, rtol=ulps * epsilon, atol=ulps * epsilon
    )


@pytest.mark.parametrize(("seed", "shape", "dtype", "bounds", "expected"), UNIFORM)
def test_uniform(seed, shape, dtype, bounds, expected):
    kind = getattr(lm, dtype)
    drawn = lm.random.uniform(*bounds, shape, kind, lm.random.key(seed))
    assert (drawn.shape, drawn.dtype) == (shape, kind)
    assert checksum(drawn) == expected


def test_known_answers():
    close(lm.random.uniform(shape=(3,), key=KEY), [0.5741444, 0.10015824, 0.05946118], 1)
    close(lm.random.normal((3,), key=KEY), [0.18693565, -1.2806503, -1.5593127])
    assert lm.random.randint(0, 100, (3,), key=KEY).tolist() == [57, 10, 5]


def test_uniform_of_arrays():
    low, high = lm.array([-3.7, 0.0, 2.0]), lm.array([[4.2], [5.0]])
    expected = [[2.0655687, 3.650614, 3.9190605], [-1.8887845, 0.93312132, 3.6506772]]
    close(lm.random.uniform(low, high, (2, 3), key=KEY), expected, 2)
    with pytest.raises(ShapeError, match=r"parameters of shape \(2, 3\) do not broadcast to \(\)"):
        lm.random.uniform(low, high, key=KEY)
    with pytest.raises(DTypeError, match="real numbers"):
        lm.random.uniform(lm.array(1j), 1, key=KEY)


def test_uniform_stays_below_one():
    for dtype in (lm.float16, lm.bfloat16):
        drawn = lm.random.uniform(shape=(20000,), dtype=dtype, key=KEY).astype(lm.float32)
        assert 0 <= lm.min(drawn).item() < 0.001
        assert lm.max(drawn).item() == 1 - lm.finfo(dtype).eps / 2


def test_no_dtype_is_float32():
    assert lm.random.uniform(shape=(2,), dtype=None, key=KEY).dtype is lm.float32
    assert lm.random.randint(0, 5, (2,), None, KEY).dtype is lm.int32


@pytest.mark.parametrize(("low", "high", "dtype", "expected"), RANDINT)
def test_randint(low, high, dtype, expected):
    drawn = lm.random.randint(low, high, (501,), getattr(lm, dtype), lm.random.key(3))
    assert drawn.dtype is getattr(lm, dtype)
    assert checksum(drawn) == expected


def test_randint_of_arrays():
    low, high = lm.array([-3.7, 0.0, 2.0]), lm.array([[4.2], [5.0]])
    assert lm.random.randint(low, high, (2, 3), key=KEY).tolist() == [[2, 3, 3], [-2, 0, 3]]
    bools = lm.random.randint(lm.array([0, 1]), lm.array([1, 2]), (9, 2), lm.bool_, KEY)
    assert bools.tolist() == [[False, True]] * 9
    equal = lm.random.randint(lm.array([5, 9]), lm.array([5, 2]), (2,), key=KEY)
    assert equal.tolist() == [5, 9]


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [(0, 300, lm.int8), (-1, 5, lm.uint32), (0, math.inf, lm.int32), (nan, 1, lm.int32)],
)
def test_randint_refuses_bounds_that_do_not_fit(low, high, dtype):
    with pytest.raises(ArgumentError, match="randint: "):
        lm.random.randint(low, high, (3,), dtype, KEY)


@pytest.mark.parametrize(("p", "expected"), BERNOULLI)
def test_bernoulli(p, expected):
    drawn = lm.random.bernoulli(p, (501,), lm.random.key(3))
    assert drawn.dtype is lm.bool_
    assert checksum(drawn) == expected
    of_array = lm.random.bernoulli(lm.array(p), (501,), lm.random.key(3))
    assert checksum(of_array) == expected


def test_bernoulli_of_arrays():
    p = lm.array([0.1, 0.5, 0.9])
    expected = [[0, 1, 1], [0, 1, 1], [0, 0, 1], [0, 1, 1]]
    assert lm.random.bernoulli(p, (4, 3), KEY).tolist() == [
        list(map(bool, row)) for row in expected
    ]
    assert lm.random.bernoulli(p, key=KEY).shape == (3,)
    assert lm.random.bernoulli(key=KEY).shape == ()
    assert lm.random.bernoulli(1, (4,), KEY).tolist() == [True] * 4
    with pytest.raises(ShapeError, match=r"\(3,\) do not broadcast to \(2,\)"):
        lm.random.bernoulli(p, (2,), KEY)
    with pytest.raises(DTypeError, match="float dtype"):
        lm.random.bernoulli(lm.array([1, 0]), key=KEY)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["normal", "laplace", "gumbel", "truncated_normal"])
def test_floats(dtype, name):
    kind = getattr(lm, dtype)
    bounds = (-1.5, 0.7) if name == "truncated_normal" else ()
    drawn = getattr(lm.random, name)(*bounds, shape=(5,), dtype=kind, key=KEY)
    assert (drawn.shape, drawn.dtype) == ((5,), kind)
    close(drawn, FLOATS[dtype][name])


def test_location_and_scale():
    expected = [1.9299519, -1.4454956, -2.0864191]
    close(lm.random.normal((3,), loc=1.5, scale=2.3, key=KEY), expected)
    close(lm.random.normal((3,), loc=lm.array(1.5), scale=2.3, key=KEY), expected)
    close(lm.random.normal((3,), loc=1.5, scale=lm.array(2.3), key=KEY), expected)
    expected = [1.1308318, 5.1980696, 6.3973527]
    close(lm.random.laplace((3,), loc=1.5, scale=2.3, key=KEY), expected)
    low, high = lm.array([-3.7, 0.0, 2.0]), lm.array([[4.2], [5.0]])
    expected = [[-1.1284854, 4.7148724, 6.7767954], [-7.7636623, -4.4520235, 2.6311588]]
    close(lm.random.normal((2, 3), loc=low, scale=high, key=KEY), expected)
    assert lm.random.normal((3,), loc=lm.zeros((2, 3)), key=KEY).shape == (2, 3)
    half = lm.random.normal((3,), lm.float16, loc=low, scale=2.0, key=KEY)
    assert half.dtype is lm.float16
    with pytest.raises(ShapeError, match="do not broadcast"):
        lm.random.normal((2,), loc=low, key=KEY)
    with pytest.raises(DTypeError, match="real numbers"):
        lm.random.normal((3,), loc=1j, key=KEY)


def test_complex_normal():
    expected = [0.43293703 + 0.79379004j, 0.80421537 - 0.57468861j, -0.62961119 + 0.089259334j]
    drawn = lm.random.normal((3,), lm.complex64, key=KEY)
    np.testing.assert_allclose(np.array(drawn), expected, rtol=1e-6)
    expected = [1.8658741 + 3.5875802j, 2.6084309 + 0.85062277j, -0.25922239 + 2.1785188j]
    drawn = lm.random.normal((3,), lm.complex64, 1 + 2j, 2, KEY)
    np.testing.assert_allclose(np.array(drawn), expected, rtol=1e-6)
    assert lm.random.normal((2, 0), lm.complex64, key=KEY).shape == (2, 0)


def test_float64_has_the_resolution_of_float32():
    for draw in (lm.random.normal, lm.random.laplace):
        long, short = draw((9,), lm.float64, key=KEY), draw((9,), key=KEY)
        assert long.dtype is lm.float64
        np.testing.assert_allclose(np.array(long), np.array(short), rtol=1e-6)


def test_truncated_normal():
    low, high = lm.array([-3.7, 0.0, 2.0]), lm.array([[4.2], [5.0]])
    expected = [[0.61232388, 1.5108396, 2.7569892], [-0.81243497, 0.23607324, 2.3177092]]
    close(lm.random.truncated_normal(low, high, key=KEY), expected, 16)
    assert lm.random.truncated_normal(1, -1, (3,), key=KEY).tolist() == [1, 1, 1]
    drawn = lm.random.truncated_normal(-0.25, 0.5, (5000,), key=KEY)
    assert -0.25 <= lm.min(drawn).item() < -0.24
    assert 0.49 < lm.max(drawn).item() <= 0.5
    unlimited = lm.random.truncated_normal(-lm.inf, lm.inf, (9,), key=KEY)
    close(unlimited, lm.random.normal((9,), key=KEY).tolist(), 16)
    with pytest.raises(ShapeError):
        lm.random.truncated_normal(low, high, (3,), key=KEY)


@pytest.mark.parametrize(("axis", "arguments", "expected"), CATEGORICAL)
def test_categorical(axis, arguments, expected):
    logits = ((lm.arange(60) % 7) * 0.5).reshape(3, 4, 5)
    drawn = lm.random.categorical(logits, axis, key=KEY, **arguments)
    assert drawn.dtype is lm.uint32
    assert checksum(drawn) == expected


def test_categorical_of_one_distribution():
    logits = lm.array([1.0, 2.0, 3.0, 0.0])
    row = [2, 1, 1, 3, 1, 1, 2, 2, 1, 2, 1, 1]
    assert lm.random.categorical(logits, num_samples=12, key=KEY).tolist() == row
    square = lm.random.categorical(logits, shape=(3, 4), key=KEY).tolist()
    assert square == [row[:4], row[4:8], row[8:]]
    assert lm.random.categorical(logits, key=KEY).item() == 1
    assert lm.random.categorical(logits[None], key=KEY).tolist() == [2]
    impossible = lm.array([-lm.inf, 0.0, -lm.inf])
    drawn = lm.random.categorical(impossible, num_samples=1000, key=KEY)
    assert lm.all(drawn == 1).item()


def test_frequencies():
    logits = lm.log(lm.array([[0.1, 0.6, 0.3], [0.25, 0.25, 0.5]]))
    drawn = np.array(lm.random.categorical(logits, num_samples=20000, key=KEY))
    for row, probabilities in zip(drawn, ([0.1, 0.6, 0.3], [0.25, 0.25, 0.5])):
        found = np.bincount(row, minlength=3) / 20000
        np.testing.assert_allclose(found, probabilities, atol=0.015)


def test_categorical_errors():
    logits = lm.zeros((2, 3))
    with pytest.raises(AxisError):
        lm.random.categorical(logits, 2, key=KEY)
    with pytest.raises(AxisError):
        lm.random.categorical(lm.array(1.0), key=KEY)
    with pytest.raises(ArgumentError, match="not both"):
        lm.random.categorical(logits, shape=(2,), num_samples=2, key=KEY)
    with pytest.raises(ShapeError, match=r"\(2,\) do not broadcast to \(2, 4\)"):
        lm.random.categorical(logits, shape=(2, 4), key=KEY)
    with pytest.raises(ShapeError, match="no elements"):
        lm.random.categorical(lm.zeros((2, 0)), key=KEY)


@pytest.mark.parametrize("name", ["uniform", "gumbel", "truncated_normal", "normal", "laplace"])
def test_dtypes_that_are_refused(name):
    draw = getattr(lm.random, name)
    bounds = (-1, 1) if name == "truncated_normal" else ()
    refused = [lm.int32] if name in ("normal", "laplace") else [lm.int32, lm.float64, lm.complex64]
    for dtype in refused:
        with pytest.raises(DTypeError, match=f"{name}: does not make {dtype.name}"):
            draw(*bounds, shape=(3,), dtype=dtype, key=KEY)


def test_shapes():
    for shape in ((), (0,), (2, 0, 3), (1,), (3, 2)):
        for draw in (lm.random.uniform, lm.random.normal, lm.random.gumbel, lm.random.laplace):
            assert draw(shape=shape, key=KEY).shape == shape
    assert lm.random.normal(4, key=KEY).shape == (4,)


def draws(key):
    return (
        lm.random.uniform(-1, 2, (31,), key=key),
        lm.random.normal((30,), lm.float16, loc=1.0, key=key),
        lm.random.randint(-5, 9, (7, 3), key=key),
        lm.random.bernoulli(0.4, (33,), key),
        lm.random.categorical(lm.zeros((4, 5)), key=key),
        lm.random.truncated_normal(-1, 1, (6,), key=key),
        lm.random.gumbel((5,), key=key),
        lm.random.laplace((5,), key=key),
    )


def test_the_same_when_compiled():
    compiled = lm.compile(draws)
    for seed in (1, 2**50):
        key = lm.random.key(seed)
        for got, expected in zip(compiled(key), draws(key), strict=True):
            assert bytes(got) == bytes(expected)
    assert compiled.traces == 1


@pytest.mark.parametrize(
    "draw",
    [
        lambda key: lm.random.bits((1000,), key=key),
        lambda key: lm.random.uniform(-1.0, 2.0, (1001,), key=key),
        lambda key: lm.random.normal((1000,), key=key),
        lambda key: lm.random.randint(0, 10, (1000,), key=key),
        lambda key: lm.random.bernoulli(0.1, (999,), key=key),
    ],
)
def test_a_compiled_draw_is_two_kernels(draw):
    compiled = lm.compile(draw)
    compiled(KEY)
    assert lm.explain(compiled, KEY).program["kernels"] <= 2
