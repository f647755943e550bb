"""Single flight: once per key between threads, without deadlocks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from lamina.runtime.single_flight import SingleFlight


def together(*works: Callable[[], object]) -> list[object]:
    """The results, or errors, of works that run in a thread each."""
    results: list[object] = [None] * len(works)

    def run(position: int) -> None:
        try:
            results[position] = works[position]()
        except Exception as error:
            results[position] = error

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive(), "deadlock"
    return results


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "nothing happened for 10 s"
        time.sleep(0.001)


def test_one_thread_works_and_all_get_its_result():
    flight: SingleFlight[object] = SingleFlight()
    calls: list[object] = []

    def work() -> object:
        calls.append(object())
        wait_until(lambda: len(flight._waits) == 7)
        return calls[-1]

    results = together(*[lambda: flight.run("key", work)] * 8)
    assert len(calls) == 1
    assert results == calls * 8


def test_keys_do_not_wait_for_each_other():
    flight: SingleFlight[int] = SingleFlight()
    barrier = threading.Barrier(2, timeout=10)
    assert together(
        lambda: flight.run(1, lambda: barrier.wait() * 0 + 1),
        lambda: flight.run(2, lambda: barrier.wait() * 0 + 2),
    ) == [1, 2]


def test_work_is_done_again_once_it_has_landed():
    flight: SingleFlight[int] = SingleFlight()
    assert [flight.run("key", lambda value=value: value) for value in (1, 2)] == [1, 2]


def test_recursion_in_one_thread_works_twice():
    flight: SingleFlight[str] = SingleFlight()
    assert flight.run("key", lambda: "outer " + flight.run("key", lambda: "inner")) == "outer inner"


def test_threads_that_want_each_others_keys_do_not_deadlock():
    flight: SingleFlight[str] = SingleFlight()
    barrier = threading.Barrier(3, timeout=10)

    def work(mine: str, other: str) -> str:
        def outer() -> str:
            barrier.wait()
            return mine + flight.run(other, lambda: other)

        return flight.run(mine, outer)

    results = together(lambda: work("a", "b"), lambda: work("b", "c"), lambda: work("c", "a"))
    # Whoever closes the ring does the other's work; the rest wait and see the whole of it.
    assert sorted(str(result)[0] for result in results) == ["a", "b", "c"]


def test_an_error_is_its_threads_own_and_the_next_one_tries():
    flight: SingleFlight[int] = SingleFlight()
    attempts: list[int] = []

    def work() -> int:
        attempts.append(1)
        if len(attempts) == 1:
            wait_until(lambda: len(flight._waits) == 3)
            raise KeyError("first")
        return 5

    results = together(*[lambda: flight.run("key", work)] * 4)
    assert sum(isinstance(result, KeyError) for result in results) == 1
    assert results.count(5) == 3


def test_an_interrupt_releases_the_key():
    flight: SingleFlight[int] = SingleFlight()

    def interrupted() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flight.run("key", interrupted)
    assert flight.run("key", lambda: 3) == 3
    assert not flight._flights
    assert not flight._waits
