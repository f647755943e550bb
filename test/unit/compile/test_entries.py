"""Compiled entries: who shares them, how long they live, how they are found, and threads."""

from __future__ import annotations

import copy
import functools
import gc
import os
import threading
import time
import timeit
import tracemalloc
import weakref

import pytest

from lamina.frontend.array import Array
from lamina.frontend.compile import Compiled, compile
from lamina.frontend.entries import Table


def test_wrappers_of_one_function_share_entries():
    def function(x):
        return x + 1

    first, second = compile(function), compile(function)
    assert first(Array([1.0])).tolist() == [2.0]
    assert second(Array([5.0])).tolist() == [6.0]
    assert first.traces == second.traces == 1


def test_wrappers_with_other_options_do_not():
    state = {"n": Array([1.0])}

    def function(x):
        return x + state["n"]

    plain, reads = compile(function), compile(function, inputs=state)
    writes, sizes = compile(function, outputs=state), compile(function, shapeless=True)
    assert plain(Array([1.0])).tolist() == [2.0]
    state["n"] = Array([10.0])
    assert reads(Array([1.0])).tolist() == [11.0]
    assert writes(Array([1.0])).tolist() == [11.0]
    assert sizes(Array([1.0])).tolist() == [11.0]
    assert plain(Array([1.0])).tolist() == [2.0]
    assert [one.traces for one in (plain, reads, writes, sizes)] == [1, 1, 1, 1]


def test_wrappers_with_the_same_containers_share_entries():
    state = {"n": Array([1.0])}

    def function(x):
        return x + state["n"]

    first = compile(function, inputs=state)
    second = compile(function, inputs=state)
    other = compile(function, inputs=dict(state))
    first(Array([1.0]))
    second(Array([1.0]))
    assert second.traces == 1
    assert other.traces == 0


def test_dropping_a_wrapper_keeps_the_entries_of_another():
    def function(x):
        return x + 1

    first, second = compile(function), compile(function)
    first(Array([1.0]))
    del first
    gc.collect()
    second(Array([1.0]))
    assert second.traces == 1
    del second
    gc.collect()
    third = compile(function)
    third(Array([1.0]))
    assert third.traces == 1


def test_entries_die_with_the_function():
    def used():
        constant = Array([1.0])
        compiled = compile(lambda x: x + constant)
        compiled(Array([1.0]))
        return weakref.ref(compiled.table), weakref.ref(constant.node)

    table, node = used()
    gc.collect()
    assert table() is None
    assert node() is None


def test_entries_that_refer_to_their_function_die_too():
    def used():
        def function(x, callback):
            return x + 1, function, callback

        compiled = compile(function)
        compiled(Array([1.0]), compiled)
        return weakref.ref(compiled.table)

    table = used()
    gc.collect()
    assert table() is None


def test_a_copy_of_a_functions_attributes_does_not_share():
    def function(x):
        return x + 1

    compile(function)(Array([1.0]))

    @functools.wraps(function)
    def other(x):
        return x + 2

    assert compile(other)(Array([1.0])).tolist() == [3.0]
    assert copy.deepcopy(function.__dict__)["__lamina_entries__"] is None


@pytest.mark.parametrize(("kind", "count"), [("lambda", 9000), ("partial", 1000)])
def test_throw_away_functions_leave_no_growth(kind, count):
    x = Array([1.0])

    def once():
        function = (lambda a: a) if kind == "lambda" else functools.partial(lambda a: a)
        compile(function)(x)

    def living():
        gc.collect()
        return sum(isinstance(one, (Compiled, Table)) for one in gc.get_objects())

    for _ in range(100):
        once()
    before = living()
    tracemalloc.start()
    try:
        for _ in range(1000):
            once()
        gc.collect()
        first, _ = tracemalloc.get_traced_memory()
        for _ in range(count):
            once()
        gc.collect()
        second, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert living() == before
    assert second - first < 20_000


def test_a_hit_among_many_entries_is_no_slower():
    x = Array([1.0])
    few, many = compile(lambda a, n: a), compile(lambda a, n: a)
    few(x, 0)
    for n in range(4000):
        many(x, n)
    assert many.traces == many.cache_size == 4000

    def cost(function):
        return min(timeit.repeat(lambda: function(x, 0), number=500, repeat=20))

    assert cost(many) < 2 * cost(few)
    many(x, 3999)
    assert many.traces == 4000


def test_the_least_recently_used_goes_first():
    x = Array([1.0])
    compiled = compile(lambda a, n: a + n, cache_limit=2)
    compiled(x, 1)
    compiled(x, 2)
    compiled(x, 1)
    compiled(x, 3)
    assert compiled.cache_size == 2
    assert compiled.traces == 3
    compiled(x, 1)
    assert compiled.traces == 3
    assert compiled(x, 2).tolist() == [3.0]
    assert compiled.traces == 4


def test_entries_out_of_the_limit_are_freed():
    x = Array([1.0])
    compiled = compile(lambda a, n: (a, n), cache_limit=3)
    objects = [type("Constant", (), {})() for _ in range(10)]
    alive = [weakref.ref(one) for one in objects]
    for one in objects:
        compiled(x, one)
    del objects, one
    gc.collect()
    assert sum(ref() is not None for ref in alive) == 3
    compiled.cache_clear()
    gc.collect()
    assert sum(ref() is not None for ref in alive) == 0


def test_raw_keys_of_one_entry_are_bounded():
    x = Array([1.0])
    compiled = compile(lambda **named: sum(named.values()))
    names = [f"n{i}" for i in range(6)]
    for shift in range(6):
        for swap in range(6):
            order = names[shift:] + names[:shift]
            order[0], order[swap] = order[swap], order[0]
            assert compiled(**dict.fromkeys(order, x)).tolist() == [6.0]
    assert compiled.traces == 1


def test_threads_that_miss_together_trace_once():
    started = threading.Barrier(8)
    calls = []

    def function(x):
        calls.append(1)
        time.sleep(0.05)
        return x + 1

    compiled = compile(function)
    results = []

    def work():
        started.wait()
        results.append(compiled(Array([1.0])).tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[2.0]] * 8
    assert len(calls) == 1


def test_threads_trace_different_keys_at_the_same_time():
    meeting = threading.Barrier(2, timeout=10)

    def function(x):
        meeting.wait()  # breaks if a lock were held while a function is traced
        return x + 1

    compiled = compile(function)
    threads = [threading.Thread(target=compiled, args=(Array([1.0] * n),)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiled.cache_size == 2


def test_a_waiting_thread_tries_itself_after_an_error():
    first = threading.Event()
    attempts = []

    def function(x):
        attempts.append(threading.current_thread().name)
        if len(attempts) == 1:
            first.set()
            time.sleep(0.05)
            raise ValueError("the first fails")
        return x + 1

    compiled = compile(function)
    errors, results = [], []

    def work():
        try:
            results.append(compiled(Array([1.0])).tolist())
        except ValueError as error:
            errors.append(str(error))

    one, two = threading.Thread(target=work), threading.Thread(target=work)
    one.start()
    first.wait()
    two.start()
    one.join()
    two.join()
    assert errors == ["the first fails"]
    assert results == [[2.0]]


def test_a_miss_inside_a_miss_does_not_deadlock():
    class Key:
        """A constant whose comparison calls the compiled function with the same key."""

        calls = 0

        def __hash__(self):
            Key.calls += 1
            if Key.calls == 2:
                assert compiled(Array([1.0]), self).tolist() == [2.0]
            return 1

        def __eq__(self, other):
            return self is other

    compiled = compile(lambda x, key: x + 1)
    assert compiled(Array([1.0]), Key()).tolist() == [2.0]


def test_many_threads_with_hits_and_misses():
    compiled = compile(lambda x, n: x * n, cache_limit=5)
    failures = []

    def work(seed):
        for i in range(100):
            n = (seed * 7 + i) % 11
            if compiled(Array([2.0]), n).tolist() != [2.0 * n]:
                failures.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert compiled.cache_size <= 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_threads_it_lacks():
    inside, leave = threading.Event(), threading.Event()
    parent = os.getpid()

    def function(x):
        if os.getpid() == parent:
            inside.set()
            leave.wait()
        return x + 1

    compiled = compile(function)
    thread = threading.Thread(target=compiled, args=(Array([1.0]),))
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if compiled(Array([1.0])).tolist() == [2.0] else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
