"""Laziness, deep graphs, threads, and reads of values that are not known yet."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import lamina as lm
from lamina.errors import LeakedTraceError, TracedValueError
from lamina.frontend import graph
from lamina.frontend.array import wrap
from lamina.frontend.graph import Node, Trace


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    a = lm.array([1.0, 2.0])
    b, c = lm.exp(a), lm.log(a)
    assert b.node.buffer is None
    lm.eval(b)
    assert b.node.buffer is not None
    assert b.node.inputs == ()
    assert c.node.buffer is None


def test_eval_takes_nested_containers() -> None:
    a = lm.array([1.0])
    arrays = [a + i for i in range(5)]
    tree = {"w": arrays[0], "layers": [{"b": arrays[1]}, (arrays[2], None, 3, "text")]}
    lm.eval(tree, arrays[3], 5)
    assert [b.node.buffer is not None for b in arrays] == [True] * 4 + [False]
    lm.async_eval(arrays[4])
    assert arrays[4].item() == 5.0
    lm.eval()


def test_shared_work_is_done_once() -> None:
    a = lm.array([2.0])
    for _ in range(60):
        a = a * a / a
    assert a.item() == 2.0


@pytest.mark.slow
def test_deep_chains_neither_recurse_nor_keep_their_memory() -> None:
    a = lm.array([0.0])
    first = a + 1
    watched = weakref.ref(first.node)
    b = first
    del first
    for _ in range(199_999):
        b = b + 1
    assert watched() is not None
    lm.eval(b)
    assert b.item() == 200_000.0
    gc.collect()
    assert watched() is None


def test_deep_chains_are_dropped_without_recursion() -> None:
    a = lm.array([0.0])
    b = a
    for _ in range(100_000):
        b = b + a
    del b
    gc.collect()


def test_threads_evaluate_shared_graphs() -> None:
    for _ in range(5):
        base = lm.array([1.0])
        for _ in range(50):
            base = base + 1
        results: list[float] = []

        def work(start: lm.array, barrier: threading.Barrier, out: list[float]) -> None:
            barrier.wait()
            out.append((start + 1).item())

        arguments = (base, threading.Barrier(4), results)
        workers = [threading.Thread(target=work, args=arguments) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert results == [52.0] * 4


def traced_input() -> Node:
    return Node(None, (), (), (3,), lm.float32)


def test_traced_values_cannot_be_read() -> None:
    trace = Trace("f")
    graph.current.trace = trace
    try:
        x = wrap(traced_input())
        y = lm.exp(x) + 1
        assert (y.shape, y.dtype, y.ndim, y.size) == ((3,), lm.float32, 1, 3)
        for read in (
            repr,
            bytes,
            lm.eval,
            lm.async_eval,
            lambda a: a.tolist(),
            lambda a: a[0].item(),
        ):
            with pytest.raises(TracedValueError, match=r"while f was being traced at .*\.py:\d+"):
                read(y)
            with pytest.raises(RuntimeError, match=r"use lamina\.where"):
                read(x)
        with pytest.raises(TracedValueError, match="Return the array and read it outside"):
            bool(y[0] > 0)
        constant = lm.array([1.0, 2.0]) + 1
        assert constant.tolist() == [2.0, 3.0]
    finally:
        graph.current.trace = None
    trace.finished = True
    with pytest.raises(LeakedTraceError, match="an array of f was made while it was traced"):
        y.tolist()


def test_errors_name_the_users_line() -> None:
    with pytest.raises(ValueError, match=r"test_evaluate\.py:\d+$"):
        lm.ones((2,)) + lm.ones((3,))
    node = (lm.ones((2,)) + 1).node
    place = graph.location(node)
    assert place is not None
    assert place[0].endswith("test_evaluate.py")
    assert place[2] == "test_errors_name_the_users_line"
