"""Kernels read and write their buffers only: each lies against memory that nobody may touch.

An access outside ends the process, and a test run with it.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np
import pytest

from lamina.dialects import dtypes, reference
from lamina.dialects.dtypes import DType
from lamina.dialects.program import Program, literal_bytes
from lamina.passes import driver, eager
from lamina.passes.launches import LoweredProgram
from lamina.passes.schedule.loops import COLUMN_SPLIT, ROW_SPLIT, STREAMING_BYTES
from lamina.runtime import cpu
from lamina.runtime.blas import library_function

PAGE = mmap.PAGESIZE
NONE, ALL = 0, mmap.PROT_READ | mmap.PROT_WRITE
FILL = 0xA5
_protect = ctypes.CDLL(None, use_errno=True).mprotect
_protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


_entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@functools.cache
def _code(kernel: Any) -> Any:
    return cpu.load(cpu.compile_llvm_ir(driver.llvm_ir(kernel), driver.ENTRY))


class Fence:
    """Memory between two inaccessible pages, against the first or the last of them."""

    def __init__(self, contents: bytes, at_end: bool, alignment: int) -> None:
        self.nbytes = len(contents)
        inside = -(-max(self.nbytes, 1) // PAGE) * PAGE
        self.map = mmap.mmap(-1, inside + 2 * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.first, self.last = start + PAGE, start + PAGE + inside
        ctypes.memset(self.first, FILL, inside)
        self.address = self.last - self.nbytes if at_end else self.first
        self.address -= self.address % alignment
        ctypes.memmove(self.address, contents, self.nbytes)
        self.protect(NONE)

    def protect(self, access: int) -> None:
        """Changes the access to the pages on both sides."""
        for edge in (self.first - PAGE, self.last):
            assert _protect(edge, PAGE, access) == 0

    def contents(self) -> bytes:
        """What lies in it."""
        return ctypes.string_at(self.address, self.nbytes)

    def is_clean(self) -> bool:
        """True if nothing around the contents has changed."""
        before = ctypes.string_at(self.first, self.address - self.first)
        end = self.address + self.nbytes
        return set(before + ctypes.string_at(end, self.last - end)) <= {FILL}


class Fenced:
    """Runs the launches of a program on fenced buffers."""

    def __init__(self, at_end: bool) -> None:
        self.at_end = at_end
        self.fences: list[Fence] = []

    def fence(self, contents: bytes, alignment: int) -> Fence:
        self.fences.append(Fence(contents, self.at_end, alignment))
        return self.fences[-1]

    def run(self, program: Program, lowered: LoweredProgram, inputs: list[np.ndarray]) -> Any:
        """The outputs as arrays, each launch run in uneven parts."""
        buffers: dict[str, Fence] = {}
        for number, values in enumerate(inputs):
            contents = np.ascontiguousarray(values).tobytes()
            buffers[f"input{number}"] = self.fence(contents, values.dtype.itemsize)
        buffers["literal"] = self.fence(literal_bytes(program)[0], 8)
        buffers["workspace"] = self.fence(bytes([FILL]) * lowered.workspace, 64)
        for name, value in zip(lowered.results, program.outputs, strict=True):
            type_ = program.type_of(value)
            if name not in buffers:
                # Stores past the caches need the alignment of the pool's blocks.
                alignment = 64 if type_.nbytes >= STREAMING_BYTES else type_.dtype.size
                buffers[name] = self.fence(bytes(type_.nbytes), alignment)
        for launch in lowered.launches:
            words = [
                word if isinstance(word, int) else self._address(buffers, *word)
                for word in launch.arguments
            ]
            table = self.fence(np.array(words, np.int64).tobytes(), 8)
            entry = _entry(_code(launch.kernel).address)
            cut = launch.units // 3
            assert entry(table.address, cut, launch.units) == 0
            assert entry(table.address, 0, cut) == 0
        results = []
        for name, value in zip(lowered.results, program.outputs, strict=True):
            shape, dtype = program.type_of(value)
            results.append(np.frombuffer(buffers[name].contents(), dtype.numpy).reshape(shape))
        for number, values in enumerate(inputs):
            assert buffers[f"input{number}"].contents() == np.ascontiguousarray(values).tobytes()
        return results

    def _address(self, buffers: dict[str, Fence], name: str, offset: int) -> int:
        if name.startswith("library:"):
            return library_function(name[8:])
        return buffers[name].address + offset

    def free(self) -> None:
        """Checks what lies around the buffers and lets them go."""
        clean = [fence.is_clean() for fence in self.fences]
        for fence in self.fences:
            fence.protect(ALL)
        assert all(clean)


@pytest.fixture(params=[True, False], ids=["end", "start"])
def fenced(request: pytest.FixtureRequest) -> Iterator[Callable[..., None]]:
    """``fenced(program, inputs)`` compares a program's outputs; buffers touch a fence."""
    runner = Fenced(request.param)

    def check(program: Program, inputs: list[np.ndarray], lower: Any = eager.lower) -> None:
        results = runner.run(program, lower(program), inputs)
        for actual, expected in zip(results, reference.run(program, inputs), strict=True):
            if actual.dtype.kind in "biu":
                np.testing.assert_array_equal(actual, expected)
            else:
                a, b = (values.astype(np.complex128) for values in (actual, expected))
                np.testing.assert_allclose(a, b, 2e-2, 2e-2)

    yield check
    runner.free()


def _values(shape: tuple[int, ...], dtype: DType = dtypes.float32) -> np.ndarray:
    random = np.random.default_rng(prod(shape))
    if dtype.kind in ("bool", "unsigned", "signed"):
        return random.integers(0, 2, shape).astype(dtype.numpy)
    return random.normal(0, 1, shape).astype(dtype.numpy)


@pytest.mark.parametrize("size", [1, 15, 17, 63, 65, 8193])
def test_maps(laws: Any, fenced: Any, size: int) -> None:
    for dtype in (
        dtypes.bool_, dtypes.int8, dtypes.bfloat16, dtypes.float32, dtypes.int64, dtypes.complex64,
    ):  # fmt: skip
        draft = laws.Draft(((size,), dtype), ((size,), dtype))
        op = draft.bitwise_and if dtype.kind == "bool" else draft.add
        turned = draft.slice_(0, start=(size - 1,), size=(size,), step=(-1,))
        program = draft.program(op(turned, 1))
        fenced(program, [_values((size,), dtype), _values((size,), dtype)])


VIEWS = [
    ((33, 50), lambda d, x: d.transpose(x, permutation=(1, 0))),
    ((513, 17), lambda d, x: d.transpose(x, permutation=(1, 0))),
    ((16, 3, 20), lambda d, x: d.transpose(x, permutation=(2, 1, 0))),
    ((101,), lambda d, x: d.slice_(x, start=(0,), size=(51,), step=(2,))),
    ((101,), lambda d, x: d.slice_(x, start=(100,), size=(34,), step=(-3,))),
    ((7, 41), lambda d, x: d.slice_(x, start=(6, 40), size=(7, 41), step=(-1, -1))),
    ((7, 41), lambda d, x: d.slice_(x, start=(1, 39), size=(3, 20), step=(2, -2))),
    ((7, 1), lambda d, x: d.broadcast(x, shape=(7, 35))),
    ((1, 35), lambda d, x: d.broadcast(x, shape=(9, 35))),
]


@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_views(laws: Any, fenced: Any, number: int) -> None:
    shape, view = VIEWS[number]
    for dtype in (dtypes.uint8, dtypes.float16, dtypes.float32, dtypes.complex64):
        draft = laws.Draft((shape, dtype))
        seen = view(draft, 0)
        fenced(draft.program(draft.multiply(seen, seen)), [_values(shape, dtype)])


REDUCED = [
    ((1, 33), 1), ((5, 127), 1), ((3, ROW_SPLIT + 3), 1), ((33, 1), 0), ((129, 7), 0),
    ((COLUMN_SPLIT + 1, 17), 0), ((COLUMN_SPLIT + 1, 515), 0), ((4, 21, 5), 1),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axis"), REDUCED)
def test_reductions(laws: Any, fenced: Any, shape: tuple[int, ...], axis: int) -> None:
    for dtype in (dtypes.bfloat16, dtypes.float32, dtypes.int8, dtypes.float64):
        draft = laws.Draft((shape, dtype))
        outputs = [draft.reduce_sum(0, axes=(axis,)), draft.argmax(0, axis=axis)]
        fenced(draft.program(*outputs), [_values(shape, dtype)])


@pytest.mark.parametrize("axis", [0, 1])
def test_scans(laws: Any, fenced: Any, axis: int) -> None:
    for reverse in (False, True):
        for dtype in (dtypes.float32, dtypes.int16):
            draft = laws.Draft(((37, 21), dtype))
            output = draft.cumsum(0, axis=axis, reverse=reverse, inclusive=False)
            fenced(draft.program(output), [_values((37, 21), dtype)])


@pytest.mark.parametrize("shape", [(3, 1), (3, 65), (5, 513)])
@pytest.mark.parametrize("axis", [0, 1])
def test_rows(laws: Any, fenced: Any, shape: tuple[int, int], axis: int) -> None:
    for dtype in (dtypes.float32, dtypes.float16):
        draft = laws.Draft((shape, dtype))
        largest = draft.broadcast(draft.reduce_max(0, axes=(axis,)), shape=shape)
        powers = draft.exp(draft.subtract(0, largest))
        total = draft.broadcast(draft.reduce_sum(powers, axes=(axis,)), shape=shape)
        program = draft.program(draft.divide(powers, total))
        fenced(program, [_values(shape, dtype)], driver.lower_graph)


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.float32, dtypes.complex64], ids=str)
def test_updates(laws: Any, fenced: Any, dtype: DType) -> None:
    draft = laws.Draft(((5, 17), dtype), ((5, 3), dtype), ((2, 5), dtype))
    number = {"complex": 3 + 0j, "signed": 3}.get(dtype.kind, 3.0)
    fill = draft.constant(value=number, dtype=dtype)
    outputs = [
        draft.concatenate(0, 1, 0, axis=1),
        draft.pad(0, fill, low=(1, 2), high=(0, 5)),
        draft.slice_update(0, 2, start=(4, 16), step=(-3, -3)),
    ]
    inputs = [_values(shape, dtype) for shape in [(5, 17), (5, 3), (2, 5)]]
    for lower in (eager.lower, driver.lower_graph):
        fenced(draft.program(*outputs), inputs, lower)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 5, 7), (17, 33, 65), (257, 9, 1025), (5, 0, 3)])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products(laws: Any, fenced: Any, sizes: tuple[int, int, int], turned: Any) -> None:
    rows, depth, columns = sizes
    for dtype in (dtypes.float32, dtypes.bfloat16):
        shapes = [(2, rows, depth), (2, depth, columns), (2, rows, columns)]
        given = [(s[0], s[2], s[1]) if flip else s for s, flip in zip(shapes, (*turned, False))]
        draft = laws.Draft(*[(shape, dtype) for shape in given])
        operands = [
            draft.transpose(i, permutation=(0, 2, 1)) if flip else i
            for i, flip in enumerate(turned)
        ]
        output = draft.add(draft.matmul(*operands), 2)
        inputs = [_values(shape, dtype) / (depth + 1) for shape in given]
        inputs = [values.astype(dtype.numpy) for values in inputs]
        fenced(draft.program(output), inputs, driver.lower_graph)


def test_stores_past_the_caches(laws: Any, fenced: Any) -> None:
    size = STREAMING_BYTES // 4 + 5
    draft = laws.Draft(((size,), dtypes.float32))
    fenced(draft.program(draft.negative(0)), [_values((size,))])
    draft = laws.Draft(((size // 1001, 1001), dtypes.float32))
    fenced(draft.program(draft.negative(0)), [_values((size // 1001, 1001))])
