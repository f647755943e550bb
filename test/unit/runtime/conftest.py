"""Kernels in LLVM IR for the tests of the CPU runtime, and programs of one launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from lamina.runtime import native
from lamina.runtime.artifact import Artifact, Launch, Output, Pointer, Slot
from lamina.runtime.buffer import Buffer, allocate
from lamina.runtime.cpu import LoadedKernel, compile_llvm_ir, load
from lamina.runtime.executable import Executable

# int32 add(words, begin, end): y[i] = x[i] + words[2], for f32 x and y at words[0] and words[1].
ADD = """
define i32 @entry(ptr %words, i64 %begin, i64 %end) {
  %x = load ptr, ptr %words
  %y.at = getelementptr i64, ptr %words, i64 1
  %y = load ptr, ptr %y.at
  %number.at = getelementptr i64, ptr %words, i64 2
  %number = load i64, ptr %number.at
  %addend = sitofp i64 %number to float
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ %begin, %0 ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %value = load float, ptr %from
  %sum = fadd float %value, %addend
  %to = getelementptr float, ptr %y, i64 %i
  store float %sum, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}
"""

# Adds one to the i32 at words[0] of every unit, so that a unit that ran twice or never shows.
COUNT = """
define i32 @entry(ptr %words, i64 %begin, i64 %end) {
  %counts = load ptr, ptr %words
  br label %loop
loop:
  %i = phi i64 [ %begin, %0 ], [ %next, %loop ]
  %at = getelementptr i32, ptr %counts, i64 %i
  %old = atomicrmw add ptr %at, i32 1 seq_cst
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}
"""

# Returns words[1] if unit words[0] is among its own, else 0.
FAIL = """
define i32 @entry(ptr %words, i64 %begin, i64 %end) {
  %unit = load i64, ptr %words
  %status.at = getelementptr i64, ptr %words, i64 1
  %status = load i32, ptr %status.at
  %after = icmp sge i64 %unit, %begin
  %before = icmp slt i64 %unit, %end
  %inside = and i1 %after, %before
  %result = select i1 %inside, i32 %status, i32 0
  ret i32 %result
}
"""


@pytest.fixture(scope="session")
def kernels() -> dict[str, LoadedKernel]:
    """The kernels by name."""
    texts = {"add": ADD, "count": COUNT, "fail": FAIL}
    return {name: load(compile_llvm_ir(text, "entry")) for name, text in texts.items()}


@pytest.fixture
def add_program(kernels: dict[str, LoadedKernel]) -> Callable[..., Executable]:
    """Makes the program ``x + addend`` of ``count`` floats."""

    def make(
        count: int, grain: int | None = None, addend: int = 3, donated: tuple[int, ...] = ()
    ) -> Executable:
        type_ = ((count,), "float32")
        artifact = Artifact(
            target="test",
            inputs=(type_,),
            outputs=(Output(*type_, ("slot", 1), donated),),
            slots=(Slot("input"), Slot("output")),
            launches=(Launch("add", (Pointer(0), Pointer(1), addend), count, grain or count),),
            workspace=0,
        )
        return Executable(artifact, kernels)

    return make


@pytest.fixture
def filled() -> Callable[[np.ndarray[Any, Any]], Buffer]:
    """Makes a buffer with an array's values."""

    def make(values: np.ndarray[Any, Any]) -> Buffer:
        buffer = allocate(values.nbytes)
        buffer.as_numpy(values.dtype, values.shape, writable=True)[...] = values
        return buffer

    return make


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    """Sets how many threads launches use; what was before comes back after the test."""
    before = native.num_threads()
    yield native.set_num_threads
    native.set_num_threads(before)
