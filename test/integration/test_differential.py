"""Random programs through the whole compiler against the reference, bit by bit where that is due.

Values are drawn so that most results are exact; a value behind an approximation is only compared
within a tolerance, and nothing that jumps (a comparison, a cast to integers) is applied to it.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lamina.dialects import dtypes, ops, reference
from lamina.dialects.dtypes import DType
from lamina.dialects.primitive import TABLE, Primitive, TensorType
from lamina.dialects.program import Program, ProgramBuilder
from lamina.errors import LaminaError
from lamina.passes import driver
from lamina.passes.math import FUNCTIONS
from lamina.runtime.buffer import allocate

EXTENTS = [0, 1, 1, 2, 3, 5, 16, 17, 33, 40]
LARGEST = 20_000
SMOOTH = frozenset(
    "add subtract negative abs maximum minimum tanh sigmoid sin cos arctan erf reshape transpose "
    "broadcast slice slice_update pad concatenate reduce_max reduce_min cummax cummin".split()
)
"""What may be applied to approximate values: errors grow little and nothing jumps."""
INEXACT = (frozenset(FUNCTIONS) - {"floor_divide", "remainder", "rsqrt"}) | {
    "reduce_prod",
    "cumprod",
}
SUMS = {"reduce_sum", "cumsum"}
TOLERANCE = {"float16": 0.02, "bfloat16": 0.1, "float32": 1e-4, "float64": 1e-9, "complex64": 1e-4}
ELEMENTWISE = [primitive for primitive in TABLE.values() if primitive.kind == "elementwise"]


def _input(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    if dtype.kind == "bool":
        return rng.random(shape) < 0.5
    if dtype.is_integer:
        limits = np.iinfo(dtype.numpy)
        small = rng.integers(0 if limits.min == 0 else -9, 10, shape, dtype.numpy)
        large = rng.integers(limits.min, limits.max, shape, dtype.numpy, endpoint=True)
        return np.where(rng.random(shape) < 0.8, small, large)
    values = rng.integers(-12, 13, shape) / 4
    values = np.where(rng.random(shape) < 0.1, -0.0, values)
    if dtype.kind == "complex":
        return (values + 1j * rng.integers(-12, 13, shape) / 4).astype(dtype.numpy)
    if rng.random() < 0.2:
        values = np.where(rng.random(shape) < 0.05, rng.choice([np.nan, np.inf, -np.inf]), values)
    return values.astype(dtype.numpy)


class Generator:
    """A growing program whose values are known, so that only sensible ops are added."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.numbers = np.random.default_rng(rng.randrange(1 << 30))
        dtype = rng.choice(dtypes.ALL)
        rank = rng.randint(0, 4)
        shape = tuple(rng.choice(EXTENTS) for _ in range(rank))
        other = tuple(extent if rng.random() < 0.7 else 1 for extent in shape)
        types = (TensorType(shape, dtype), TensorType(shape, dtype), TensorType(other, dtype))
        self.builder = ProgramBuilder(types)
        self.types = list(types)
        self.inputs = [_input(self.numbers, *type_) for type_ in types]
        self.values = list(self.inputs)
        self.approximate = [False] * len(types)

    def program(self, length: int) -> Program:
        """Adds ops at random and returns some of the values."""
        for _ in range(length):
            self._step()
        count = len(self.types)
        last = range(max(0, count - 6), count)
        outputs = [self.rng.choice(last) for _ in range(self.rng.randint(1, 4))]
        outputs.append(count - 1)
        self.flags = [self.approximate[value] for value in outputs]
        return self.builder.finish(outputs)

    def _step(self) -> None:
        recent = range(max(0, len(self.types) - 5), len(self.types))
        value = self.rng.choice(recent)
        kind = self.rng.choice("uubbbtvvvvvrrsxxpm")
        step = {
            "u": self._unary, "b": self._binary, "t": self._three, "v": self._view,
            "r": self._reduction, "s": self._scan, "x": self._update, "p": self._creation,
            "m": self._matmul,
        }[kind]  # fmt: skip
        step(value)

    def add(
        self, primitive: Primitive, operands: tuple[int, ...], attributes: Any = ()
    ) -> int | None:
        """Records an op unless it does not fit; the number of its value."""
        types = tuple(self.types[operand] for operand in operands)
        try:
            type_ = TensorType(*primitive.rule(types, attributes))
        except LaminaError:
            return None
        if type_.size > LARGEST:
            return None
        given = [self.values[operand] for operand in operands]
        approximate = any(self.approximate[operand] for operand in operands)
        if approximate and (primitive.name not in SMOOTH or type_.dtype.size == 2):
            return None
        result = reference.evaluate(primitive, given, attributes, type_)
        if primitive.name in SUMS and type_.dtype.is_inexact:
            approximate = approximate or not _are_exact(given[0])
        is_inexact = primitive.name in INEXACT and type_.dtype.is_inexact
        is_inexact |= primitive is ops.matmul and type_.dtype.is_inexact
        is_inexact |= primitive in (ops.multiply, ops.divide) and type_.dtype.kind == "complex"
        if approximate or is_inexact:
            approximate = True
            if not _is_tame(result, given):
                return None
        number = self.builder.add(primitive, operands, attributes, type_)
        if number == len(self.types):
            self.types.append(type_)
            self.values.append(result)
            self.approximate.append(approximate)
        return number

    def _like(self, value: int) -> int:
        """A value of the same type, perhaps the same."""
        same = [other for other, type_ in enumerate(self.types) if type_ == self.types[value]]
        return self.rng.choice(same)

    def _unary(self, value: int) -> None:
        names = [p for p in ELEMENTWISE if len(p.operands) == 1]
        primitive = self.rng.choice(names)
        if primitive.attributes:
            self.add(primitive, (value,), (self.rng.choice(dtypes.ALL),))
        else:
            self.add(primitive, (value,))

    def _binary(self, value: int) -> None:
        primitive = self.rng.choice([p for p in ELEMENTWISE if len(p.operands) == 2])
        pair = [value, self._like(value)]
        self.rng.shuffle(pair)
        self.add(primitive, tuple(pair))

    def _three(self, value: int) -> None:
        other = self._like(value)
        less = ops.less if self.types[value].dtype.kind != "complex" else ops.not_equal
        condition = self.add(less, (value, other))
        if condition is not None:
            self.add(ops.select, (condition, other, value))

    def _view(self, value: int) -> None:
        shape = self.types[value].shape
        kind = self.rng.choice("tsrb")
        if kind == "t":
            order = self.rng.sample(range(len(shape)), len(shape))
            self.add(ops.transpose, (value,), (tuple(order),))
        elif kind == "s":
            self.add(ops.slice_, (value,), self._window(shape))
        elif kind == "r":
            self.add(ops.reshape, (value,), (self._factors(int(np.prod(shape))),))
        else:
            if 1 not in shape:
                value_or_none = self.add(ops.reshape, (value,), ((1, *shape),))
                if value_or_none is None:
                    return
                value, shape = value_or_none, (1, *shape)
            wide = tuple(self.rng.choice([1, 3, 17]) if n == 1 else n for n in shape)
            self.add(ops.broadcast, (value,), (wide,))

    def _window(self, shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
        start, size, step = [], [], []
        for extent in shape:
            stride = self.rng.choice([1, 1, 2, 3, -1, -2])
            first = self.rng.randrange(extent) if extent else 0
            most = 0
            if extent:
                most = (extent - 1 - first) // stride if stride > 0 else first // -stride
                most += 1
            start.append(first)
            size.append(self.rng.randint(min(1, most), most))
            step.append(stride)
        return tuple(start), tuple(size), tuple(step)

    def _factors(self, size: int) -> tuple[int, ...]:
        factors: list[int] = []
        for divisor in (2, 3, 5, 17, 1):
            if size and size % divisor == 0 and self.rng.random() < 0.5:
                factors.append(divisor)
                size //= divisor
        factors.append(size)
        self.rng.shuffle(factors)
        return tuple(factors)

    def _axes(self, value: int) -> tuple[int, ...]:
        rank = len(self.types[value].shape)
        return tuple(sorted(self.rng.sample(range(rank), self.rng.randint(0, rank))))

    def _reduction(self, value: int) -> None:
        primitive = self.rng.choice([p for p in TABLE.values() if p.kind == "reduction"])
        axes = self._axes(value)
        is_position = primitive in (ops.argmax, ops.argmin)
        if is_position and not axes:
            return
        reduced = self.add(primitive, (value,), (axes[0] if is_position else axes,))
        if reduced is not None and self.rng.random() < 0.7:
            self.add(ops.broadcast, (reduced,), (self.types[value].shape,))

    def _scan(self, value: int) -> None:
        rank = len(self.types[value].shape)
        if rank:
            primitive = self.rng.choice([p for p in TABLE.values() if p.kind == "scan"])
            flags = (self.rng.random() < 0.5, self.rng.random() < 0.5)
            self.add(primitive, (value,), (self.rng.randrange(rank), *flags))

    def _update(self, value: int) -> None:
        shape, dtype = self.types[value]
        kind = self.rng.choice("ucp")
        if kind == "u" and shape:
            start, size, step = self._window(shape)
            update = self.add(ops.slice_, (self._like(value),), self._window(shape))
            if update is not None and self.types[update].shape != size:
                spread = self.add(ops.slice_, (self._like(value),), (start, size, step))
                update = spread
            if update is not None:
                negated = self.add(ops.negative, (update,))
                update = update if negated is None else negated
                self.add(ops.slice_update, (value, update), (start, step))
        elif kind == "c" and shape:
            axis = self.rng.randrange(len(shape))
            parts = [
                self._shortened(self._like(value), axis) for _ in range(self.rng.randint(1, 3))
            ]
            self.add(ops.concatenate, (value, *parts), (axis,))
        elif kind == "p":
            fill = self.add(ops.constant, (), (_number(dtype, self.rng.choice([0, 1, 3])), dtype))
            low = tuple(self.rng.randint(0, 3) for _ in shape)
            high = tuple(self.rng.randint(0, 3) for _ in shape)
            if fill is not None:
                self.add(ops.pad, (value, fill), (low, high))

    def _shortened(self, value: int, axis: int) -> int:
        """A value, or the first part of it along an axis."""
        shape = self.types[value].shape
        size = tuple(
            self.rng.randint(0, extent) if i == axis else extent for i, extent in enumerate(shape)
        )
        attributes = ((0,) * len(shape), size, (1,) * len(shape))
        part = self.add(ops.slice_, (value,), attributes) if self.rng.random() < 0.5 else None
        return value if part is None else part

    def _creation(self, value: int) -> None:
        shape, dtype = self.types[value]
        if shape and dtype.kind not in ("bool", "complex") and self.rng.random() < 0.5:
            position = self.add(ops.iota, (), (shape, dtype, self.rng.randrange(len(shape))))
            if position is not None:
                self.add(ops.maximum, (value, position))
            return
        number = _number(dtype, self.rng.choice([0, 1, 2, 3]))
        scalar = self.add(ops.constant, (), (number, dtype))
        if scalar is not None:
            ones = self.add(ops.reshape, (scalar,), ((1,) * len(shape),))
            assert ones is not None
            wide = self.add(ops.broadcast, (ones,), (shape,))
            if wide is not None:
                self.add(self.rng.choice([ops.add, ops.bitwise_and]), (value, wide))

    def _matmul(self, value: int) -> None:
        rank = len(self.types[value].shape)
        if rank >= 2:
            order = (*range(rank - 2), rank - 1, rank - 2)
            turned = self.add(ops.transpose, (self._like(value),), (order,))
            if turned is not None:
                self.add(ops.matmul, self.rng.choice([(value, turned), (turned, value)]))


def _number(dtype: DType, value: int) -> Any:
    if dtype.kind == "bool":
        return bool(value)
    if dtype.kind == "complex":
        return complex(value, -1)
    return value if dtype.is_integer else float(value)


def _are_exact(given: np.ndarray) -> bool:
    """True if every partial sum is a small multiple of a quarter, so that no order rounds."""
    if not np.isfinite(given).all():
        return False
    quarters = given.astype(np.complex128) * 4
    is_whole = (quarters.real % 1 == 0).all() and (quarters.imag % 1 == 0).all()
    return bool(is_whole and np.abs(quarters).sum() < 2**23)


def _is_tame(result: np.ndarray, given: list[np.ndarray]) -> bool:
    """True for values whose relative errors stay within the tolerance."""
    for values in (result, *given):
        if values.dtype.kind in "biu":
            continue
        size = np.abs(values.astype(np.complex128))
        if not np.isfinite(size).all() or (size > 100).any():
            return False
        if ((size < 1e-3) & (size > 0)).any():
            return False
    return True


def _run(program: Program, inputs: list[np.ndarray], build: Any) -> list[np.ndarray]:
    executable = build(program)
    buffers = []
    for values in inputs:
        buffer = allocate(values.nbytes)
        if values.size:
            buffer.as_numpy(values.dtype, values.shape, writable=True)[...] = values
        buffers.append(buffer)
    results = executable.run(buffers)
    for buffer, values in zip(buffers, inputs, strict=True):
        if values.size:
            assert buffer.as_numpy(values.dtype, values.shape).tobytes() == values.tobytes()
    return [
        buffer.as_numpy(program.type_of(value).dtype.numpy, program.type_of(value).shape)
        for buffer, value in zip(results, program.outputs, strict=True)
    ]


def _compare(actual: np.ndarray, expected: np.ndarray, approximate: bool, dtype: DType) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if approximate:
        size = np.abs(expected.astype(np.complex128))
        error = np.abs(actual.astype(np.complex128) - expected.astype(np.complex128))
        assert (error <= TOLERANCE[dtype.name] * (1 + size)).all(), error.max()
        return
    a, b = actual, np.ascontiguousarray(expected)
    if dtype.kind == "complex":
        a, b = (part.reshape(-1).view(np.float32) for part in (a, b))
    same = a == b
    if dtype.is_inexact:
        same &= np.signbit(a) == np.signbit(b)
        same |= (a != a) & (b != b)
    assert same.all(), (a[~same][:5], b[~same][:5])


def _check(rng: random.Random, length: int) -> None:
    generator = Generator(rng)
    program = generator.program(length)
    expected = reference.run(program, generator.inputs)
    for build in (driver.executable_for, driver.operation_for):
        results = _run(program, generator.inputs, build)
        for value, actual, wanted, flag in zip(
            program.outputs, results, expected, generator.flags, strict=True
        ):
            _compare(actual, wanted, flag, program.type_of(value).dtype)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.randoms(use_true_random=False), st.integers(1, 16))
def test_random_programs(rng: random.Random, length: int) -> None:
    _check(rng, length)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_random_programs(seed: int) -> None:
    for number in range(50):
        _check(random.Random(1000 * seed + number), 4 + number // 2)
