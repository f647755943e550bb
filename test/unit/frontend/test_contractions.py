"""Matrix products and what is made of them, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamina as lm

GENERATOR = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray[Any, Any]:
    return GENERATOR.normal(size=shape).astype(np.float32)


def check(got: lm.array, want: Any) -> None:
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(np.array(got), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((3,), (4, 3, 2)), ((4, 2, 3), (3,)),
        ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((0, 2, 3), (3, 2)), ((1, 1), (1, 1)),
    ],
)  # fmt: skip
def test_matmul_shapes(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = random(*left), random(*right)
    check(lm.matmul(lm.array(x), lm.array(y)), np.matmul(x, y))


def test_matmul_dtypes() -> None:
    x, y = np.array([[1, 2], [3, 4]], np.int8), np.array([[5, 6], [7, 100]], np.int8)
    assert (lm.array(x) @ lm.array(y)).tolist() == np.matmul(x, y).tolist()
    mixed = lm.array(x) @ lm.ones((2, 2), lm.float16)
    assert (mixed.dtype, mixed.tolist()) == (lm.float16, [[3.0, 3.0], [7.0, 7.0]])
    z = lm.array([[1j, 2]]) @ lm.array([[1j], [1.5]])
    assert z.tolist() == [[2 + 0j]]
    with pytest.raises(TypeError, match=r"matmul.*got bool"):
        lm.matmul(lm.array([[True]]), lm.array([[True]]))


def test_matmul_shapes_that_do_not_fit() -> None:
    text = r"matmul\(f32\[2,3\], f32\[4,5\]\): sizes 3 and 4 of the contracted axes differ at .*py:"
    with pytest.raises(ValueError, match=text):
        lm.matmul(lm.ones((2, 3)), lm.ones((4, 5)))
    with pytest.raises(ValueError, match="at least one axis"):
        lm.matmul(lm.array(1.0), lm.ones((2, 2)))
    with pytest.raises(ValueError, match=r"batch shapes \(2,\) and \(3,\) do not broadcast"):
        lm.matmul(lm.ones((2, 2, 2)), lm.ones((3, 2, 2)))


def test_addmm() -> None:
    c, a, b = random(2), random(3, 4), random(4, 2)
    check(lm.addmm(lm.array(c), lm.array(a), lm.array(b)), c + a @ b)
    check(lm.addmm(lm.array(c), lm.array(a), lm.array(b), 2.0, 3.0), 3 * c + 2 * (a @ b))
    check(lm.addmm(lm.array(c), lm.array(a[0]), lm.array(b), 0.5), c + 0.5 * (a[0] @ b))
    half = lm.addmm(lm.ones((2,), lm.float16), lm.array(a), lm.array(b))
    assert half.dtype is lm.float32
    with pytest.raises(ValueError, match=r"addmm.*contracted axes differ"):
        lm.addmm(lm.array(c), lm.array(a), lm.array(a))


@given(st.integers(0, 3), st.data())
@settings(max_examples=25, deadline=None)
def test_tensordot(count: int, data: st.DataObject) -> None:
    x, y = random(2, 3, 4), random(4, 3, 2)
    if count in (0, 1):
        check(lm.tensordot(lm.array(x), lm.array(y), count), np.tensordot(x, y, count))
    left = data.draw(st.permutations(range(3)))[:count]
    right = [2 - axis for axis in left]
    got = lm.tensordot(lm.array(x), lm.array(y), [left, right])
    check(got, np.tensordot(x, y, (left, right)))


def test_tensordot_defaults_and_errors() -> None:
    x, y = random(2, 3, 4), random(3, 4, 5)
    check(lm.tensordot(lm.array(x), lm.array(y)), np.tensordot(x, y))
    got = lm.tensordot(lm.array(x), lm.array(y), [-1, 1])
    check(got, np.tensordot(x, y, (-1, 1)))
    with pytest.raises(ValueError, match=r"sizes \(4,\) and \(3,\) of the contracted axes differ"):
        lm.tensordot(lm.array(x), lm.array(y), 1)
    with pytest.raises(ValueError, match="cannot contract 4 axes"):
        lm.tensordot(lm.array(x), lm.array(y), 4)
    with pytest.raises(IndexError, match="axis 5"):
        lm.tensordot(lm.array(x), lm.array(y), [[5], [0]])


def test_inner_and_outer() -> None:
    for left, right in (((3,), (3,)), ((2, 3), (4, 3)), ((2, 2, 3), (3,)), ((), (4, 3))):
        x, y = random(*left), random(*right)
        check(lm.inner(lm.array(x), lm.array(y)), np.inner(x, y))
    x, y = random(2, 3), random(4)
    check(lm.outer(lm.array(x), lm.array(y)), np.outer(x, y))
    assert lm.outer(lm.array(2), lm.array([1, 2])).tolist() == [[2, 4]]
    assert lm.inner(lm.array([1, 2]), lm.array([3, 4])).dtype is lm.int32
    with pytest.raises(ValueError, match=r"inner.*contracted axes differ"):
        lm.inner(lm.ones((2,)), lm.ones((3,)))


def test_vecdot() -> None:
    x, y = random(2, 3, 4), random(3, 4)
    check(lm.vecdot(lm.array(x), lm.array(y)), np.sum(x * y, -1))
    check(lm.vecdot(lm.array(x), lm.array(x), axis=0), np.sum(x * x, 0))
    z = lm.array([1j, 2 + 1j])
    assert lm.vecdot(z, z).item() == 6 + 0j
    with pytest.raises(ValueError, match="sizes of axis -1 differ"):
        lm.vecdot(lm.ones((3,)), lm.ones((4,)))
    with pytest.raises(IndexError, match="axis 1"):
        lm.vecdot(lm.ones((3,)), lm.ones((3,)), axis=1)


def test_kron() -> None:
    for left, right in (
        ((2,), (3,)),
        ((2, 2), (3, 1)),
        ((2,), (2, 2)),
        ((), (3,)),
        ((1, 2, 3), (2,)),
    ):
        x, y = random(*left), random(*right)
        check(lm.kron(lm.array(x), lm.array(y)), np.kron(x, y))
