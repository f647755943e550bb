"""The memory pool: classes, reuse, accounts, limits."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from lamina.errors import ArgumentError, OutOfMemoryError
from lamina.runtime import memory
from lamina.runtime.buffer import Buffer, allocate
from lamina.runtime.host import total_memory

MIB = 1 << 20


@pytest.fixture(autouse=True)
def limits() -> Iterator[None]:
    """Gives every test an empty cache, and the limits back afterwards."""
    gc.collect()
    cache, total = memory.pool.cache_limit, memory.pool.memory_limit
    memory.clear_cache()
    yield
    memory.set_cache_limit(cache)
    memory.set_memory_limit(total)


@pytest.mark.parametrize(
    "nbytes", [0, 1, 63, 64, 65, 512, 513, 4096, 5000, MIB - 1, MIB, 3 * MIB + 1, 9 * MIB]
)
def test_blocks_are_aligned_and_wide_enough(nbytes: int) -> None:
    buffer = allocate(nbytes)
    assert buffer.nbytes == nbytes
    assert buffer.address % memory.ALIGNMENT == 0
    assert nbytes <= buffer.capacity <= max(64, nbytes + nbytes // 8 + 64)
    values = buffer.as_numpy(np.uint8, (nbytes,), writable=True)
    values[...] = 7
    assert (values == 7).all()


def test_sizes_of_classes_grow_in_eighths() -> None:
    sizes = {memory.pool.size_class(nbytes).size for nbytes in range(1025, 2049)}
    assert sorted(sizes) == [1024 + 128 * i for i in range(1, 9)]


@pytest.mark.parametrize("nbytes", [100, 5 * MIB])
def test_a_freed_block_is_used_again(nbytes: int) -> None:
    buffer = allocate(nbytes)
    address = buffer.address
    del buffer
    assert allocate(nbytes).address == address


def test_accounts() -> None:
    active = memory.get_active_memory()
    memory.reset_peak_memory()
    first, second = allocate(MIB), allocate(2 * MIB)
    assert memory.get_active_memory() == active + 3 * MIB
    del first
    assert memory.get_active_memory() == active + 2 * MIB
    assert memory.get_peak_memory() == active + 3 * MIB
    assert memory.get_cache_memory() == MIB
    del second
    memory.reset_peak_memory()
    assert memory.get_peak_memory() == memory.get_active_memory() == active
    memory.clear_cache()
    assert memory.get_cache_memory() == 0


def test_the_cache_stays_in_its_limit() -> None:
    previous = memory.set_cache_limit(4 * MIB)
    assert previous > 4 * MIB
    buffers = [allocate(MIB + i) for i in range(10)] + [allocate(64) for _ in range(10)]
    del buffers
    assert 0 < memory.get_cache_memory() <= 4 * MIB
    assert memory.set_cache_limit(0) == 4 * MIB
    assert memory.get_cache_memory() == 0
    allocate(MIB)
    assert memory.get_cache_memory() == 0


def test_memory_beyond_the_limit_is_refused() -> None:
    memory.set_memory_limit(memory.get_active_memory() + 8 * MIB)
    held = allocate(6 * MIB)
    with pytest.raises(OutOfMemoryError, match=r"4\.0 MiB.*are in use"):
        allocate(4 * MIB)
    assert memory.get_active_memory() >= 6 * MIB
    del held
    assert allocate(8 * MIB).nbytes == 8 * MIB  # the cache made room


@pytest.mark.parametrize("nbytes", [total_memory() * 2, 1 << 46, 1 << 47, 1 << 62, 1 << 70])
def test_sizes_that_no_machine_has(nbytes: int) -> None:
    active = memory.get_active_memory()
    with pytest.raises(OutOfMemoryError):
        allocate(nbytes)
    memory.set_memory_limit(1 << 80)
    if nbytes >= 1 << 47:
        with pytest.raises(OutOfMemoryError, match="what the system gives"):
            allocate(nbytes)
    assert memory.get_active_memory() == active


@pytest.mark.parametrize("limit", [-1, 1.5, True, "1"])
def test_limits_are_numbers_of_bytes(limit: object) -> None:
    with pytest.raises(ArgumentError, match="number of bytes"):
        memory.set_cache_limit(limit)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="number of bytes"):
        memory.set_memory_limit(limit)  # type: ignore[arg-type]


def test_threads_never_share_a_block() -> None:
    active = memory.get_active_memory()
    wrong: list[int] = []

    def work(number: int) -> None:
        held: list[Buffer] = []
        for step in range(400):
            buffer = allocate(64 * (step % 5 + 1))
            buffer.as_numpy(np.uint8, (64,), writable=True)[...] = number
            held.append(buffer)
            if len(held) > 10:
                for each in held:
                    if not (each.as_numpy(np.uint8, (64,)) == number).all():
                        wrong.append(number)
                held.clear()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
    assert memory.get_active_memory() == active


def test_the_collector_may_free_buffers_anywhere() -> None:
    """Buffers in reference cycles come back while other code of the pool runs."""

    class Cycle:
        def __init__(self) -> None:
            self.me = self
            self.buffer = allocate(256)

    active = memory.get_active_memory()
    before = gc.get_threshold()
    gc.set_threshold(5)
    try:
        for _ in range(500):
            Cycle()
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert memory.get_active_memory() == active


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_allocates() -> None:
    held = allocate(1000)
    child = os.fork()
    if child == 0:
        address = allocate(1000).address
        os._exit(0 if address != held.address else 1)
    assert os.waitpid(child, 0)[1] == 0
