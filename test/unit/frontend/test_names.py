"""The public names: each is documented, and says where it came from."""

from __future__ import annotations

import inspect

import pytest

import lamina as lm

FUNCTIONS = [name for name in lm.__all__ if inspect.isfunction(getattr(lm, name))]
METHODS = [
    name
    for name, value in vars(lm.array).items()
    if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
]


def test_there_are_many() -> None:
    assert len(FUNCTIONS) > 140
    assert len(METHODS) > 40


def test_functions_are_documented_and_typed() -> None:
    for name in FUNCTIONS:
        function = getattr(lm, name)
        assert len(inspect.getdoc(function) or "") > 20, name
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, name


def test_methods_are_documented() -> None:
    for name in METHODS:
        assert inspect.getdoc(getattr(lm.array, name)), name


def test_constants() -> None:
    assert (lm.pi, lm.e) == (3.141592653589793, 2.718281828459045)
    assert lm.euler_gamma == pytest.approx(0.5772156649015329)
    assert lm.inf == float("inf")
    assert lm.nan != lm.nan
    assert lm.newaxis is None
    assert lm.array is lm.Array
