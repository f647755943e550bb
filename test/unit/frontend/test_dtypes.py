"""Categories and limits of dtypes."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

import lamina as lm
from lamina.frontend.dtypes import ALL, canonical_scalar


def test_sizes_and_names() -> None:
    assert [dtype.size for dtype in ALL] == [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8]
    assert repr(lm.float32) == "lamina.float32"
    assert lm.Dtype is type(lm.float32)
    assert pickle.loads(pickle.dumps(lm.bfloat16)) is lm.bfloat16
    assert copy.deepcopy(lm.int8) is lm.int8


def test_issubdtype() -> None:
    assert lm.issubdtype(lm.float32, lm.floating)
    assert lm.issubdtype(lm.float32, lm.inexact)
    assert lm.issubdtype(lm.complex64, lm.inexact)
    assert not lm.issubdtype(lm.complex64, lm.floating)
    assert lm.issubdtype(lm.uint8, lm.integer)
    assert not lm.issubdtype(lm.uint8, lm.signedinteger)
    assert not lm.issubdtype(lm.bool_, lm.number)
    assert all(lm.issubdtype(dtype, lm.generic) for dtype in ALL)
    assert lm.issubdtype(lm.integer, lm.number)
    assert not lm.issubdtype(lm.number, lm.integer)
    assert lm.issubdtype(lm.float32, lm.float32)
    assert not lm.issubdtype(lm.floating, lm.float32)
    with pytest.raises(TypeError, match="takes dtypes"):
        lm.issubdtype("float32", lm.floating)  # pyright: ignore[reportArgumentType]


def test_isdtype() -> None:
    kinds = {
        "bool": {lm.bool_},
        "signed integer": {lm.int8, lm.int16, lm.int32, lm.int64},
        "unsigned integer": {lm.uint8, lm.uint16, lm.uint32, lm.uint64},
        "real floating": {lm.float16, lm.bfloat16, lm.float32, lm.float64},
        "complex floating": {lm.complex64},
    }
    kinds["integral"] = kinds["signed integer"] | kinds["unsigned integer"]
    kinds["numeric"] = set(ALL) - {lm.bool_}
    for kind, members in kinds.items():
        assert {dtype for dtype in ALL if lm.isdtype(dtype, kind)} == members
    assert lm.isdtype(lm.int8, (lm.float32, "integral"))
    assert lm.isdtype(lm.int8, lm.int8)
    with pytest.raises(ValueError, match="unknown kind 'float'"):
        lm.isdtype(lm.int8, "float")


def test_finfo() -> None:
    for dtype in (lm.float16, lm.bfloat16, lm.float32, lm.float64):
        limits, want = lm.finfo(dtype), ml_dtypes.finfo(dtype.numpy)
        assert limits.dtype is dtype
        assert limits.bits == 8 * dtype.size
        assert (limits.min, limits.max) == (float(want.min), float(want.max))
        assert (limits.eps, limits.smallest_normal) == (
            float(want.eps),
            float(want.smallest_normal),
        )
    assert lm.finfo(lm.complex64).dtype is lm.float32
    assert repr(lm.finfo(lm.float16)) == "finfo(min=-65504, max=65504, dtype=float16)"
    with pytest.raises(TypeError, match="got int8"):
        lm.finfo(lm.int8)


def test_iinfo() -> None:
    for dtype in ALL:
        if dtype.is_integer:
            limits, want = lm.iinfo(dtype), np.iinfo(dtype.numpy)
            assert (limits.min, limits.max, limits.bits) == (want.min, want.max, want.bits)
    assert repr(lm.iinfo(lm.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    with pytest.raises(TypeError, match="got float32"):
        lm.iinfo(lm.float32)


def test_scalars_are_rounded_to_their_dtype() -> None:
    assert canonical_scalar(0.1, lm.float32) == float(np.float32(0.1))
    assert canonical_scalar(0.1, lm.float16) == float(np.float16(0.1))
    assert canonical_scalar(0.1, lm.bfloat16) == float(ml_dtypes.bfloat16(0.1))
    assert canonical_scalar(0.1, lm.float64) == 0.1
    assert canonical_scalar(1e300, lm.float32) == float("inf")
    assert canonical_scalar(-1e300, lm.bfloat16) == float("-inf")
    assert canonical_scalar(3.3963e38, lm.bfloat16) == float("inf")
    assert canonical_scalar(1e-41, lm.bfloat16) == float(ml_dtypes.bfloat16(1e-41))
    assert canonical_scalar(300, lm.uint8) == 44
    assert canonical_scalar(-129, lm.int8) == 127
    assert canonical_scalar(300.7, lm.int8) == 127
    assert canonical_scalar(float("nan"), lm.int32) == 0
    assert canonical_scalar(2.5, lm.bool_) is True
    assert canonical_scalar(1 + 2j, lm.float32) == 1.0
    assert canonical_scalar(0.1j, lm.complex64) == complex(0, float(np.float32(0.1)))
    tie = 1 + 2.0**-8
    assert canonical_scalar(tie, lm.bfloat16) == 1.0
    assert canonical_scalar(tie + 2.0**-40, lm.bfloat16) == 1 + 2.0**-7
