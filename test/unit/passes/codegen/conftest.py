"""Programs run as machine code, and how far results are from the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.dialects import reference
from lamina.dialects.dtypes import DType
from lamina.dialects.program import Program
from lamina.passes import driver
from lamina.runtime.buffer import Buffer, allocate


def buffer_of(values: np.ndarray) -> Buffer:
    """A buffer with a copy of an array."""
    values = np.ascontiguousarray(values)
    buffer = allocate(values.nbytes)
    if values.size:
        view = buffer.as_numpy(values.dtype, values.shape, writable=True)
        view[...] = values
    return buffer


class Native:
    """Runs programs as the library does: whole graphs, or op by op."""

    buffer_of = staticmethod(buffer_of)

    @staticmethod
    def executable(program: Program, path: str = "graph") -> Any:
        """The executable of the path for whole graphs, or of that for single ops."""
        build = driver.executable_for if path == "graph" else driver.operation_for
        return build(program)

    def run(
        self, program: Program, inputs: list[np.ndarray], path: str = "graph"
    ) -> list[np.ndarray]:
        """The outputs as arrays; fails if an input is changed."""
        buffers = [buffer_of(values) for values in inputs]
        before = [values.tobytes() for values in inputs]
        results = self.executable(program, path).run(buffers)
        arrays: list[np.ndarray] = []
        for value, buffer in zip(program.outputs, results, strict=True):
            shape, dtype = program.type_of(value)
            arrays.append(buffer.as_numpy(dtype.numpy, shape).copy())
        for buffer, values, old in zip(buffers, inputs, before, strict=True):
            if values.size:
                assert buffer.as_numpy(values.dtype, values.shape).tobytes() == old
        return arrays

    def both(
        self, program: Program, inputs: list[np.ndarray], path: str = "graph"
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs of what machine code and the reference give."""
        expected = reference.run(program, inputs)
        return list(zip(self.run(program, inputs, path), expected, strict=True))

    @staticmethod
    def ulps(actual: np.ndarray, expected: np.ndarray, dtype: DType) -> np.ndarray:
        """The distance in steps of the dtype; 0 for two NaN, infinite for one."""
        integer = {2: np.int16, 4: np.int32, 8: np.int64}[dtype.size]

        def steps(values: np.ndarray) -> np.ndarray:
            bits = np.ascontiguousarray(values).view(integer).astype(np.int64)
            return np.where(bits < 0, int(np.iinfo(integer).min) - bits, bits)

        a, b = actual != actual, expected != expected
        with np.errstate(over="ignore"):
            distance = np.abs((steps(actual) - steps(expected)).astype(np.float64))
        return np.where(a != b, np.inf, np.where(a & b, 0.0, distance))


@pytest.fixture(scope="session")
def native() -> Native:
    """Runs programs as machine code."""
    return Native()
