"""Buffers: exports, foreign memory, donation."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lamina.errors import ArgumentError
from lamina.runtime import memory
from lamina.runtime.buffer import Buffer, allocate, from_memory

Fill = Callable[[np.ndarray[Any, Any]], Buffer]


@pytest.mark.parametrize(
    "dtype",
    [np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float64, np.complex64,
     ml_dtypes.bfloat16],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (6,), (2, 3), (0, 3), (1, 2, 3)])
def test_exports_have_dtype_shape_and_values(
    filled: Fill, dtype: Any, shape: tuple[int, ...]
) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    array = filled(values).as_numpy(dtype, shape)
    assert array.dtype == np.dtype(dtype)
    assert array.shape == shape
    assert (array == values).all()
    assert array.flags.c_contiguous
    assert not array.flags.writeable


def test_read_only_exports_stay_read_only(filled: Fill) -> None:
    array = filled(np.zeros(4, np.float32)).as_numpy(np.float32, (4,))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_an_export_keeps_the_memory(filled: Fill) -> None:
    buffer = filled(np.arange(4, dtype=np.int32))
    address, gone = buffer.address, weakref.ref(buffer)
    view = buffer.as_numpy(np.int32, (4,))[2:]
    del buffer
    gc.collect()
    assert gone() is not None
    assert allocate(16).address != address
    assert view.tolist() == [2, 3]
    del view
    assert gone() is None
    assert allocate(16).address == address


def test_exports_are_counted(filled: Fill) -> None:
    buffer = filled(np.arange(4, dtype=np.int32))
    assert not buffer.is_exported
    first = buffer.as_numpy(np.int32, (4,))
    second = buffer.as_numpy(np.uint8, (16,))[3:]
    assert buffer.is_exported
    del first
    assert buffer.is_exported
    assert not buffer.is_donatable
    del second
    assert not buffer.is_exported
    assert buffer.is_donatable


def test_exports_by_many_threads_are_counted(filled: Fill) -> None:
    for _ in range(20):
        buffer = filled(np.arange(4, dtype=np.int32))
        held: list[Any] = []
        together = threading.Barrier(4)

        def export(buffer: Buffer = buffer, held: list[Any] = held) -> None:
            together.wait()  # noqa: B023
            held.append(buffer.as_numpy(np.int32, (4,)))

        workers = [threading.Thread(target=export) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        while held:
            assert buffer.is_exported
            held.pop()
        assert not buffer.is_exported


def test_donation_moves_the_memory(filled: Fill) -> None:
    buffer = filled(np.arange(4, dtype=np.int32))
    active, address = memory.get_active_memory(), buffer.address
    taken = buffer.donate(8)
    assert (taken.address, taken.nbytes) == (address, 8)
    assert memory.get_active_memory() == active
    assert not buffer.is_donatable
    assert "donated" in repr(buffer)
    with pytest.raises(ArgumentError, match="donated"):
        buffer.as_numpy(np.int32, (4,))
    del buffer
    assert memory.get_active_memory() == active
    assert taken.as_numpy(np.int32, (2,)).tolist() == [0, 1]


def test_foreign_memory_is_kept_and_never_the_pools() -> None:
    raw = np.arange(100, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    gone = weakref.ref(raw)
    active = memory.get_active_memory()
    buffer = from_memory(raw, raw.ctypes.data + start, 8)
    del raw
    assert gone() is not None
    assert buffer.as_numpy(np.uint8, (8,)).tolist() == list(range(start, start + 8))
    assert not buffer.is_donatable
    assert buffer.capacity == 8
    del buffer
    assert gone() is None
    assert memory.get_active_memory() == active


def test_foreign_memory_must_be_aligned() -> None:
    raw = np.zeros(200, np.uint8)
    start = -raw.ctypes.data % 64
    with pytest.raises(ArgumentError, match="not aligned to 64"):
        from_memory(raw, raw.ctypes.data + start + 4, 8)
