"""Arrays as Python objects: operators, in-place operators, conversions, identity."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import lamina as lm

BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip
BITS = (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)
INPLACE = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod,
    operator.ipow: operator.pow,
}


@pytest.mark.parametrize("op", [*BINARY, *BITS], ids=lambda op: op.__name__)
def test_operators_agree_with_numpy(op: Any) -> None:
    x, y = np.array([1, 2, 7], np.int32), np.array([3, 2, 2], np.int32)
    a, b = lm.array(x), lm.array(y)
    np.testing.assert_allclose(np.array(op(a, b)), op(x, y), rtol=1e-6)
    np.testing.assert_allclose(np.array(op(a, 3)), op(x, 3), rtol=1e-6)
    np.testing.assert_allclose(np.array(op(3, a)), op(3, x), rtol=1e-6)
    np.testing.assert_allclose(np.array(op(a, y)), op(x, y), rtol=1e-6)
    assert isinstance(op(y, a), lm.array)
    assert isinstance(op(np.float32(2) if op in BINARY else np.int32(2), a), lm.array)
    np.testing.assert_allclose(np.array(op(y, a)), op(y, x), rtol=1e-6)


def test_unary_operators() -> None:
    a = lm.array([1, -2])
    assert (-a).tolist() == [-1, 2]
    assert (+a).tolist() == [1, -2]
    assert abs(a).tolist() == [1, 2]
    assert (~a).tolist() == [-2, 1]
    assert (~lm.array([True, False])).tolist() == [False, True]
    with pytest.raises(TypeError, match=r"negative\(bool\[1\]\): does not take bool"):
        -lm.array([True])


def test_matmul_operators() -> None:
    a, b = lm.array([[1.0, 2.0], [3.0, 4.0]]), lm.array([1.0, 1.0])
    assert (a @ b).tolist() == [3.0, 7.0]
    assert (np.ones(2, np.float32) @ a).tolist() == [4.0, 6.0]
    a @= a
    assert a.tolist() == [[7.0, 10.0], [15.0, 22.0]]


def test_divmod_operators() -> None:
    quotient, rest = divmod(lm.array([7, -7]), 2)
    assert (quotient.tolist(), rest.tolist()) == ([3, -4], [1, 1])
    seven: Any = 7
    quotient, rest = divmod(seven, lm.array([2, -2]))
    assert (quotient.tolist(), rest.tolist()) == ([3, -4], [1, -1])


@pytest.mark.parametrize("op", INPLACE, ids=lambda op: op.__name__)
def test_in_place_operators_rebind_the_array(op: Any) -> None:
    a = lm.array([5.0, 7.0])
    before, alias, value = lm.array(a), a, a + 0
    want = INPLACE[op](a, 2).tolist()
    result = op(a, 2)
    assert result is a
    assert alias.tolist() == a.tolist() == want
    assert before.tolist() == value.tolist() == [5.0, 7.0]


def test_in_place_operators_may_change_dtype_and_shape() -> None:
    a = lm.array([1, 2])
    a += 1.5
    assert a.dtype is lm.float32
    a += lm.ones((2, 2))
    assert a.tolist() == [[3.5, 4.5], [3.5, 4.5]]
    b = lm.array([6], lm.int8)
    b &= 3
    b |= 8
    b ^= 1
    b <<= 2
    b >>= 1
    assert (b.tolist(), b.dtype) == ([22], lm.int8)


@pytest.mark.parametrize("other", [[1], (1,), "x", None, {}, object()])
def test_other_operands_are_refused(other: Any) -> None:
    a = lm.array([1])
    for op in (operator.add, operator.sub, operator.truediv, operator.lt, operator.matmul):
        with pytest.raises(TypeError):
            op(a, other)
        with pytest.raises(TypeError):
            op(other, a)
    with pytest.raises(lm.LaminaError, match=r"add: takes arrays and numbers.*test_array\.py"):
        a + other
    assert (a == other) is False
    assert (a != other) is True


def test_reflected_operators_of_other_types_are_asked() -> None:
    class Unit:
        def __radd__(self, other: Any) -> str:
            return "added"

        def __gt__(self, other: Any) -> str:
            return "compared"

    a: Any = lm.array([1])
    assert a + Unit() == "added"
    assert (a < Unit()) == "compared"
    with pytest.raises(TypeError):
        a - Unit()


def test_arrays_hash_by_identity() -> None:
    a, b = lm.array([1]), lm.array([1])
    assert len({a, b, a}) == 2
    assert a in [b, a]


def test_properties() -> None:
    a = lm.zeros((2, 3), lm.float16)
    assert (a.shape, a.ndim, a.size, a.itemsize, a.nbytes) == ((2, 3), 2, 6, 2, 12)
    assert a.dtype is lm.float16
    assert len(a) == 2
    assert a.T.shape == a.mT.shape == (3, 2)
    assert lm.zeros((0, 3)).size == 0
    with pytest.raises(TypeError, match="no length"):
        len(lm.array(1))


def test_items() -> None:
    assert lm.array(3).item() == 3
    assert lm.array([[2.5]], lm.bfloat16).item() == 2.5
    assert type(lm.array(True).item()) is bool
    assert type(lm.array(1, lm.uint8).item()) is int
    assert type(lm.array(1.5, lm.float16).item()) is float
    assert lm.array(1j).item() == 1j
    with pytest.raises(ValueError, match=r"item\(i32\[2\]\): only arrays of one element"):
        lm.array([1, 2]).item()


def test_tolist() -> None:
    for dtype in (lm.float16, lm.bfloat16, lm.float32, lm.float64):
        values = lm.array([[1.5], [-2.0]], dtype).tolist()
        assert values == [[1.5], [-2.0]]
        assert type(values[0][0]) is float
    assert lm.array(3).tolist() == 3
    assert lm.zeros((0, 2)).tolist() == []
    assert lm.array([True]).tolist() == [True]


def test_conversions_to_numbers() -> None:
    assert bool(lm.array([2]))
    assert not bool(lm.array(0.0))
    assert int(lm.array([2.7])) == 2
    assert float(lm.array(2, lm.int8)) == 2.0
    assert float(lm.array(2.5, lm.bfloat16)) == 2.5
    assert complex(lm.array(2j)) == 2j
    assert math.floor(lm.array(2.6)) == 2
    with pytest.raises(ValueError, match="bool"):
        bool(lm.array([]))
    with pytest.raises(ValueError, match="int"):
        int(lm.array([1, 2]))
    with pytest.raises(TypeError, match=r"float.*take its real part"):
        float(lm.array(2j))


def test_index_takes_integers_of_rank_0_only() -> None:
    assert [10, 20, 30][lm.array(1)] == 20
    assert operator.index(lm.array(5, lm.uint8)) == 5
    for wrong in (lm.array(2.0), lm.array([2]), lm.array(True)):
        with pytest.raises(TypeError, match="only integer arrays of rank 0"):
            operator.index(wrong)


def test_iteration() -> None:
    rows = list(lm.array([[1, 2], [3, 4]]))
    assert [row.tolist() for row in rows] == [[1, 2], [3, 4]]
    x, y = lm.array([1.5, 2.5])
    assert (x.item(), y.item()) == (1.5, 2.5)
    assert 2 in lm.array([1, 2])
    assert 5 not in lm.array([1, 2])
    assert 4 in lm.array([[1, 2], [3, 4]])
    assert None not in lm.array([1])
    with pytest.raises(TypeError, match="rank 0 cannot be iterated"):
        iter(lm.array(1))


def test_copies_and_pickles() -> None:
    a = lm.array([[1.5, 2.5]], lm.bfloat16)
    for b in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a + 0))):
        assert b is not a
        assert b.dtype is lm.bfloat16
        assert b.tolist() == a.tolist()
    b = copy.copy(a)
    b += 1
    assert a.tolist() == [[1.5, 2.5]]
    assert bytes(lm.array([1, 2], lm.int16)) == b"\x01\x00\x02\x00"


def test_numpy_functions_take_arrays() -> None:
    a = lm.array([1.0, 4.0])
    assert np.sqrt(a).tolist() == [1.0, 2.0]
    assert np.concatenate([a, a]).tolist() == [1.0, 4.0, 1.0, 4.0]


def test_array_namespace() -> None:
    assert lm.array(1).__array_namespace__() is lm


def test_methods_are_the_functions() -> None:
    a = lm.array([[1.0, 4.0], [9.0, 16.0]])
    for name in ("abs", "conj", "cos", "exp", "log", "log10", "log1p", "log2", "reciprocal",
                 "rsqrt", "sin", "sqrt", "square", "round"):  # fmt: skip
        assert getattr(a, name)().tolist() == getattr(lm, name)(a).tolist()
    for name in ("all", "any", "max", "min", "prod", "sum", "mean", "var", "std", "logsumexp",
                 "argmax", "argmin", "cumsum", "cumprod", "cummax", "cummin"):  # fmt: skip
        assert getattr(a, name)(0).tolist() == getattr(lm, name)(a, 0).tolist()
        assert getattr(a, name)(axis=-1).tolist() == getattr(lm, name)(a, axis=-1).tolist()
    assert a.sum(1, True).tolist() == [[5.0], [25.0]]
    assert a.std(0, ddof=1).tolist() == a.std(0, correction=1).tolist()
    assert a.astype(lm.int8).dtype is lm.int8
    assert a.reshape(4).shape == a.reshape((4,)).shape == a.reshape([-1]).shape == (4,)
    assert a.reshape(1, 2, -1).shape == (1, 2, 2)
    assert a.transpose().tolist() == a.transpose(1, 0).tolist() == a.transpose((1, 0)).tolist()
    assert a.flatten().shape == (4,)
    assert a.swapaxes(0, 1).tolist() == a.moveaxis(0, 1).tolist() == a.T.tolist()
    assert a.diag().tolist() == a.diagonal().tolist() == [1.0, 16.0]
    assert [part.tolist() for part in a.split(2, 1)] == [[[1.0], [9.0]], [[4.0], [16.0]]]
    assert lm.array([[1]]).squeeze(0).shape == (1,)
    assert a.view(lm.int32)[0, 0].item() == 0x3F800000
    assert (lm.array([1 + 2j]).real.item(), lm.array([1 + 2j]).imag.item()) == (1.0, 2.0)
    assert lm.array([1.5]).imag.tolist() == [0.0]


def test_stream_argument() -> None:
    a = lm.array([1.0])
    for stream in (None, lm.cpu, lm.Device(lm.cpu), lm.default_device(), lm.default_stream(lm.cpu)):
        assert lm.add(a, a, stream=stream).item() == 2.0
        assert lm.exp(a * 0, stream=stream).item() == 1.0
        assert a.sum(stream=stream).item() == 1.0
    with pytest.raises(TypeError, match="stream="):
        lm.exp(a, stream="gpu")
    assert lm.Device(lm.cpu) == lm.cpu == lm.default_device()
    assert repr(lm.default_stream(lm.cpu)) == "Stream(Device(cpu, 0), 0)"
