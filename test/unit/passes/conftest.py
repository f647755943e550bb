"""Small programs, and what it means that a pass kept their bits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from lamina.dialects import dtypes, ops, reference
from lamina.dialects import mlir as dialect
from lamina.dialects.dtypes import DType
from lamina.dialects.primitive import Primitive, TensorType
from lamina.dialects.program import Program, ProgramBuilder, without_dead_code
from lamina.passes.pipeline import run_pipeline


def nasty(dtype: DType) -> np.ndarray:
    """Values of a dtype that rewrites get wrong: its ends, zeros of both signs, NaN, subnormals."""
    if dtype.kind == "bool":
        return np.array([False, True])
    if dtype.is_integer:
        limits = np.iinfo(dtype.numpy)
        values = {limits.min, limits.min + 1, 0, 1, 2, 3, 7, 8, 31, limits.max - 1, limits.max}
        values |= {-1, -2, -8} if limits.min else set()
        return np.array(sorted(values), dtype.numpy)
    if dtype.kind == "complex":
        parts = [0.0, -0.0, 1.0, -2.5, np.inf, np.nan]
        return np.array([complex(a, b) for a in parts for b in parts], dtype.numpy)
    ends = {"float16": (6e-8, 65504.0), "bfloat16": (1e-40, 3e38)}
    tiny, huge = ends.get(dtype.name, (1e-45, 3e38) if dtype.size == 4 else (5e-324, 1e308))
    values = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1.5, 2.5, -3.7, 255.9, tiny, -tiny, huge]
    return np.array([*values, -huge, np.inf, -np.inf, np.nan]).astype(dtype.numpy)


def combinations(*of: DType) -> list[np.ndarray]:
    """One array a dtype, so that together they hold every combination of nasty values."""
    columns = zip(*itertools.product(*[nasty(dtype) for dtype in of]), strict=True)
    return [np.array(column).astype(dtype.numpy) for column, dtype in zip(columns, of, strict=True)]


def assert_same_bits(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal shapes, dtypes and bits; any NaN is as good as another."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if actual.dtype.kind == "c":
        assert_same_bits(actual.real.copy(), expected.real.copy())
        assert_same_bits(actual.imag.copy(), expected.imag.copy())
        return
    given, wanted = (np.frombuffer(part.tobytes(), np.uint8) for part in (actual, expected))
    differ = given != wanted
    if differ.any():
        where = differ.reshape(-1, actual.dtype.itemsize).any(axis=1)
        a, b = actual.reshape(-1)[where], expected.reshape(-1)[where]
        both_nan = (a != a) & (b != b)
        assert both_nan.all(), f"{a[~both_nan][:5]} instead of {b[~both_nan][:5]}"


class Draft:
    """A program being written: ``draft.add(x, y)`` records a primitive and gives its value."""

    def __init__(self, *inputs: tuple[tuple[int, ...], DType]) -> None:
        self.builder = ProgramBuilder(tuple(TensorType(*given) for given in inputs))

    def type_of(self, value: int) -> TensorType:
        return Program(self.builder.inputs, self.builder.instructions, ()).type_of(value)

    def __getattr__(self, name: str) -> Any:
        primitive: Primitive = getattr(ops, name)

        def record(*operands: int, **attributes: Any) -> int:
            values = tuple(attributes[key] for key, _ in primitive.attributes)
            type_ = primitive.rule(tuple(map(self.type_of, operands)), values)
            number = len(self.builder.instructions)
            return self.builder.add(primitive, operands, values, type_, ("user.py", number, "f"))

        return record

    def splat(self, value: Any, shape: tuple[int, ...], dtype: DType) -> int:
        """A constant of a shape, as the frontend writes it."""
        number = self.constant(value=value, dtype=dtype)
        if shape:
            number = self.reshape(number, shape=(1,) * len(shape))
        return self.broadcast(number, shape=shape) if set(shape) - {1} else number

    def like(self, value: Any, other: int) -> int:
        """A constant of another value's type."""
        return self.splat(value, *self.type_of(other))

    def program(self, *outputs: int) -> Program:
        program = Program(
            self.builder.inputs, self.builder.instructions, outputs, self.builder.locations
        )
        return without_dead_code(program)


class Laws:
    """What the tests of a pass need."""

    Draft = Draft
    nasty = staticmethod(nasty)
    combinations = staticmethod(combinations)
    assert_same_bits = staticmethod(assert_same_bits)

    @staticmethod
    def apply(program: Program, pipeline: str = "canonicalize") -> Program:
        """The program after passes, verified after each."""
        with dialect.session():
            module = dialect.to_mlir(program)
            run_pipeline(module, pipeline)
            return dialect.from_mlir(module.body.operations[0].operation)

    @staticmethod
    def names(program: Program) -> list[str]:
        """The names of the ops in order, without constants and their views."""
        first = len(program.inputs)
        constant: set[int] = set()
        names: list[str] = []
        for number, instruction in enumerate(program.instructions, start=first):
            primitive, operands = instruction.primitive, instruction.operands
            is_view = primitive.kind == "view" and operands[0] in constant
            if primitive is ops.constant or is_view:
                constant.add(number)
            else:
                names.append(primitive.name)
        return names

    def check(
        self, program: Program, inputs: list[np.ndarray], pipeline: str = "canonicalize"
    ) -> Program:
        """The simplified program, after a check that it computes the same bits."""
        simplified = self.apply(program, pipeline)
        expected, actual = reference.run(program, inputs), reference.run(simplified, inputs)
        for one, other in zip(actual, expected, strict=True):
            assert_same_bits(one, other)
        return simplified


@pytest.fixture(scope="session")
def laws() -> Laws:
    """Drafts of programs, nasty values, and checks that bits are kept."""
    return Laws()


@pytest.fixture(scope="session", params=list(dtypes.ALL), ids=lambda dtype: dtype.name)
def dtype(request: pytest.FixtureRequest) -> DType:
    """Every dtype in turn."""
    return request.param
