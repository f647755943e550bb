"""Storage of values: what lives at one time never overlaps, and space is used again."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.passes.storage import ALIGNMENT, StoragePlan


def _place(plan: StoragePlan, value: object) -> int:
    kind, _, offset = plan.name(value).partition("+")
    assert kind == "workspace"
    assert int(offset) % ALIGNMENT == 0
    return int(offset)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6), st.integers(0, 1000)), max_size=40)
)
def test_values_that_live_at_one_time_never_overlap(lives: list[tuple[int, int, int]]) -> None:
    plan = StoragePlan()
    lives.sort()
    for number, (first, _, nbytes) in enumerate(lives):
        plan.step = first
        plan.define(number, nbytes)
    for number, (first, length, _) in enumerate(lives):
        plan.step = first + length
        plan.use(number)
    size = plan.finish([])
    places = [
        (first, first + length, _place(plan, number), nbytes)
        for number, (first, length, nbytes) in enumerate(lives)
    ]
    for number, (first, last, start, nbytes) in enumerate(places):
        assert start + nbytes <= size
        for other_first, other_last, other_start, other_bytes in places[:number]:
            if first <= other_last and other_first <= last:
                assert start >= other_start + max(other_bytes, 1) or other_start >= start + max(
                    nbytes, 1
                )
    widest = max(
        (
            sum(-(-max(n, 1) // 64) * 64 for f, last, _, n in places if f <= step <= last)
            for step in range(20)
        ),
        default=0,
    )
    assert widest <= size


def test_space_is_used_again_and_gaps_join() -> None:
    plan = StoragePlan()
    for step in range(100):
        plan.step = step
        plan.define(step, 256)
        if step:
            plan.use(step - 1)
    assert plan.finish([]) == 2 * 256
    plan = StoragePlan()
    for value in range(4):
        plan.define(value, 64)
    plan.step = 1
    plan.define("whole", 256)
    assert plan.finish([]) == 256
    assert plan.name("whole") == "workspace+0"


def test_the_last_gap_grows() -> None:
    plan = StoragePlan()
    plan.define("small", 64)
    plan.step = 1
    plan.define("large", 128)
    assert plan.finish([]) == 128


def test_results_inputs_and_literals_need_no_workspace() -> None:
    plan = StoragePlan()
    plan.named("x", "input0")
    plan.named("two", "literal+8")
    plan.define("y", 100)
    plan.share("z", "y")
    plan.define("w", 100)
    assert plan.finish(["z", "x", "y", "w"]) == 0
    names = [plan.name(value) for value in ("x", "two", "y", "z", "w")]
    assert names == ["input0", "literal+8", "output0", "output0", "output3"]


def test_an_updated_buffer_lives_as_long_as_its_last_owner() -> None:
    plan = StoragePlan()
    plan.define("a", 64)
    plan.step = 1
    plan.share("b", "a")
    plan.step = 2
    plan.define("c", 64)
    plan.step = 3
    plan.use("b")
    plan.finish([])
    assert plan.name("b") == plan.name("a") != plan.name("c")


@pytest.mark.parametrize("count", [20_000])
def test_many_values_take_time_in_proportion(count: int) -> None:
    """Activations that wait for the way back: the lifetimes lie within each other."""
    sizes = random.Random(0)
    plan = StoragePlan()
    for value in range(count):
        plan.step = value
        plan.define(value, 1000 + 64 * sizes.randrange(7))
    for value in reversed(range(count)):
        plan.step += 1
        plan.use(value)
        plan.define(("gradient", value), 500)
    start = time.perf_counter()
    plan.finish([])
    assert time.perf_counter() - start < 10
