"""The cache in memory: bounded by bytes, least recently used out."""

from __future__ import annotations

from lamina.runtime.cache_memory import _OVERHEAD, MemoryCache

SIZE = 1000 + _OVERHEAD


def parts(letter: str) -> dict[str, bytes]:
    return {"data": letter.encode() * 1000}


def filled(letters: str, capacity: int) -> MemoryCache:
    cache = MemoryCache(capacity * SIZE)
    for letter in letters:
        cache.put(("k", letter.encode()), parts(letter))
    return cache


def present(cache: MemoryCache, letters: str) -> str:
    return "".join(x for x in letters if cache.get(("k", x.encode())) is not None)


def test_the_least_recently_used_goes_first():
    cache = filled("abc", 3)
    assert cache.get(("k", b"a")) == parts("a")
    cache.put(("k", b"d"), parts("d"))
    assert present(cache, "abcd") == "acd"
    assert cache.nbytes == 3 * SIZE


def test_kinds_are_apart():
    cache = MemoryCache(10 * SIZE)
    cache.put(("a", b"k"), parts("x"))
    assert cache.get(("b", b"k")) is None


def test_replacing_counts_once():
    cache = filled("aaa", 3)
    assert len(cache) == 1
    assert cache.nbytes == SIZE


def test_parts_beyond_the_bound_are_not_kept_and_drop_the_old_ones_of_that_key():
    cache = filled("ab", 2)
    cache.put(("k", b"a"), {"data": b"x" * 5000})
    assert present(cache, "ab") == "b"
    assert cache.nbytes == SIZE


def test_no_memory_keeps_nothing():
    cache = filled("ab", 0)
    assert present(cache, "ab") == ""


def test_clear():
    cache = filled("ab", 2)
    cache.clear()
    assert present(cache, "ab") == ""
    assert cache.nbytes == 0
