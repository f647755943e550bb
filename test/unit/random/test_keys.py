"""Keys, splits and bits, against MLX's values and an independent NumPy model of the generator."""

from __future__ import annotations

import numpy as np
import pytest

import lamina as lm
from lamina.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from lamina.frontend.random import threefry

# Seeds and what mlx.core.random.split(key(seed), 3) gives.
SPLITS = [
    (0, [[2467461003, 428148500], [3186719485, 3840466878], [2562233961, 1946702221]]),
    (42, [[3134548294, 3733159049], [3746501087, 894150801], [801545058, 2363201431]]),
    (2**40 + 17, [[2665657308, 776528475], [2970701879, 1221090017], [3693322014, 3360475184]]),
    (2**64 - 1, [[1594713364, 586013425], [2799642733, 113650303], [315046677, 1076296189]]),
]
# From the known answers of the Random123 library: counter, key and result.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


def model(seed: int, count: int) -> np.ndarray:
    """The words of a draw, one counter after the other."""
    pair = (seed >> 32, seed & 0xFFFFFFFF)
    words = np.zeros(count, np.uint32)
    half = count // 2
    distance = half + count % 2
    for i in range(half):
        words[i], words[i + distance] = threefry.hash_pair(pair, (i, i + distance))
    if count % 2:
        words[half] = threefry.hash_pair(pair, (half, 0))[0]
    return words


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_known_answers(counter, key, result):
    assert threefry.hash_pair(key, counter) == result


def test_keys():
    for seed in (0, 42, 2**32 + 5, 2**63, 2**64 - 1, np.int64(7), True):
        key = lm.random.key(seed)
        assert (key.dtype, key.shape) == (lm.uint32, (2,))
        assert key.tolist() == [int(seed) >> 32, int(seed) & 0xFFFFFFFF]


@pytest.mark.parametrize(("seed", "keys"), SPLITS)
def test_splits(seed, keys):
    key = lm.random.key(seed)
    assert lm.random.split(key, 3).tolist() == keys
    pair = (seed >> 32, seed & 0xFFFFFFFF)
    assert lm.random.split(key).tolist() == [list(one) for one in threefry.split_pair(pair)]


def test_a_known_split():
    assert lm.random.split(lm.random.key(0)).tolist() == [
        [4146024105, 967050713],
        [2718843009, 1272950319],
    ]
    assert lm.random.split(lm.random.key(0), 0).shape == (0, 2)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 8, 13, 64, 101])
def test_bits_of_every_width(count):
    key = lm.random.key(2**35 + 3)
    for width, dtype in ((1, lm.uint8), (2, lm.uint16), (4, lm.uint32)):
        drawn = lm.random.bits((count,), width, key)
        assert (drawn.dtype, drawn.shape) == (dtype, (count,))
        words = model(2**35 + 3, -(-count * width // 4))
        expected = words.astype("<u4").tobytes()[: count * width]
        assert bytes(drawn) == expected, width


def test_bits_of_shapes():
    key = lm.random.key(1)
    flat = lm.random.bits((24,), key=key).tolist()
    assert np.ravel(lm.random.bits((2, 3, 4), key=key).tolist()).tolist() == flat
    assert lm.random.bits((2, 0, 3), 1, key).shape == (2, 0, 3)
    assert lm.random.bits(key=key).shape == ()
    assert lm.random.bits(24, key=key).tolist() == flat


def test_the_same_when_compiled():
    for count in (1, 6, 7):
        for width in (1, 2, 4):
            compiled = lm.compile(lambda key, n=count, w=width: lm.random.bits((n,), w, key))
            key = lm.random.key(99)
            assert bytes(compiled(key)) == bytes(lm.random.bits((count,), width, key))


def test_numpy_keys():
    key = np.array([0, 42], np.uint32)
    assert lm.random.split(key, 3).tolist() == SPLITS[1][1]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_out_of_range(seed):
    for function in (lm.random.key, lm.random.seed):
        with pytest.raises(ArgumentError, match="seed must be from 0 to"):
            function(seed)


def test_errors_name_the_function_and_the_line():
    key = lm.random.key(0)
    with pytest.raises(ArgumentTypeError, match=r"key: the seed must be an integer.*test_keys\.py"):
        lm.random.key(1.5)
    with pytest.raises(ShapeError, match=r"uniform\(u32\[3\]\): a key has shape \(2,\)"):
        lm.random.uniform(key=lm.array([1, 2, 3], lm.uint32))
    with pytest.raises(DTypeError, match="a key is uint32"):
        lm.random.uniform(key=lm.array([1, 2]))
    with pytest.raises(ShapeError, match="num must not be negative"):
        lm.random.split(key, -1)
    with pytest.raises(ArgumentError, match="width must be 1, 2 or 4"):
        lm.random.bits((3,), 3, key)
    with pytest.raises(ShapeError, match="sizes must not be negative"):
        lm.random.bits((-2,), key=key)
    with pytest.raises(ArgumentTypeError):
        lm.random.split(key, stream="cpu")
