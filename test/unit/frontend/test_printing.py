"""How arrays print."""

from __future__ import annotations

from typing import Any

import pytest

import lamina as lm

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("data", "dtype", "text"),
    [
        ([1, 2, 3], None, "array([1, 2, 3], dtype=int32)"),
        (3.0, None, "array(3, dtype=float32)"),
        ([True, False], None, "array([True, False], dtype=bool)"),
        ([1.5, -0.0, NAN, INF, -INF], None, "array([1.5, -0, nan, inf, -inf], dtype=float32)"),
        (
            [100000.0, 1e6, 123456789.0, 0.1, 1e-4, 1e-5],
            None,
            "array([100000, 1e+06, 1.23457e+08, 0.1, 0.0001, 1e-05], dtype=float32)",
        ),
        ([1.5, 2.1], lm.bfloat16, "array([1.5, 2.09375], dtype=bfloat16)"),
        ([1 + 2j, -1.5 - 0.25j], None, "array([1+2j, -1.5-0.25j], dtype=complex64)"),
        (list(range(6)), None, "array([0, 1, 2, 3, 4, 5], dtype=int32)"),
        (list(range(7)), None, "array([0, 1, 2, ..., 4, 5, 6], dtype=int32)"),
        ([[1, 2], [3, 4]], lm.uint8, "array([[1, 2],\n       [3, 4]], dtype=uint8)"),
        (
            [[[1, 1], [1, 1]], [[1, 1], [1, 1]]],
            None,
            "array([[[1, 1],\n        [1, 1]],\n       [[1, 1],\n        [1, 1]]], dtype=int32)",
        ),
        ([], None, "array([], dtype=float32)"),
        ([[], []], None, "array([[],\n       []], dtype=float32)"),
    ],
)
def test_repr(data: Any, dtype: lm.Dtype | None, text: str) -> None:
    a = lm.array(data, dtype)
    assert repr(a) == str(a) == f"{a}" == text


def test_long_axes_are_cut() -> None:
    lines = repr(lm.arange(800).reshape(8, 100)).splitlines()
    assert lines[0] == "array([[0, 1, 2, ..., 97, 98, 99],"
    assert lines[3] == "       ...,"
    assert lines[-1] == "       [700, 701, 702, ..., 797, 798, 799]], dtype=int32)"
    assert len(lines) == 7


def test_format() -> None:
    assert f"{lm.array(3.14159):.2f}" == "3.14"
    assert f"{lm.array(7):03d}" == "007"
    with pytest.raises(TypeError, match="rank 0 only"):
        format(lm.array([3.14159]), ".2f")


def test_print_options() -> None:
    a = lm.array([3.14159265])
    with lm.printoptions(precision=3):
        assert repr(a) == "array([3.14], dtype=float32)"
        assert lm.get_printoptions().precision == 3
    assert repr(a) == "array([3.14159], dtype=float32)"
    lm.set_printoptions(2)
    try:
        assert repr(a) == "array([3.1], dtype=float32)"
    finally:
        lm.set_printoptions()
    with pytest.raises(TypeError, match="must be an integer"):
        lm.set_printoptions(1.5)  # pyright: ignore[reportArgumentType]
