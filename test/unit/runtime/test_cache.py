"""The module cache: memory, disk, keys, bounds, and folders that cannot be used."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
import time
from pathlib import Path

import pytest

from lamina.errors import CacheError
from lamina.runtime import cache as cache_module
from lamina.runtime import cache_folder
from lamina.runtime.cache import CacheWarning, ModuleCache, default_folder
from lamina.runtime.cache_file import entry_name

PARTS = {"image": b"\x90" * 100, "entry": b"\0"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def fresh(folder: Path, **options) -> ModuleCache:
    """A cache with an empty memory, as in another process."""
    return ModuleCache(folder, **{"strict": False, **options})


def entry_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.lam"))


def test_what_was_put_is_found_by_another_process(folder):
    fresh(folder).put("kernel", b"key", PARTS)
    cache = fresh(folder)
    assert cache.get("kernel", b"key") == PARTS
    assert cache.statistics.disk_hits == 1
    assert cache.get("kernel", b"key") == PARTS
    assert cache.statistics.memory_hits == 1


def test_kind_and_key_are_compared_whole(folder):
    cache = fresh(folder)
    cache.put("kernel", b"key", PARTS)
    assert cache.get("program", b"key") is None
    assert cache.get("kernel", b"key2") is None
    assert cache.get("kernelk", b"ey") is None
    assert cache.statistics.misses == 3


def test_an_entry_under_another_name_is_a_miss(folder):
    fresh(folder).put("kernel", b"key", PARTS)
    target = folder / entry_name("kernel", b"other")[:2]
    target.mkdir(exist_ok=True)
    entry_files(folder)[0].rename(target / f"{entry_name('kernel', b'other')[2:]}.lam")
    assert fresh(folder).get("kernel", b"other") is None
    count, damaged = fresh(folder).verify()
    assert count == 1
    assert "another entry's name" in damaged[0][1]


def test_the_caller_may_change_what_it_got(folder):
    cache = fresh(folder)
    given = dict(PARTS)
    cache.put("kernel", b"key", given)
    given.clear()
    cache.get("kernel", b"key").clear()
    assert cache.get("kernel", b"key") == PARTS


def test_put_replaces(folder):
    cache = fresh(folder)
    cache.put("kernel", b"key", {"a": b"1"})
    cache.put("kernel", b"key", {"b": b"2"})
    assert cache.get("kernel", b"key") == {"b": b"2"}
    assert fresh(folder).get("kernel", b"key") == {"b": b"2"}
    assert len(entry_files(folder)) == 1


def test_get_or_create_creates_once(folder):
    calls = []

    def create():
        calls.append(1)
        return PARTS

    cache = fresh(folder)
    assert cache.get_or_create("program", b"key", create) == PARTS
    assert cache.get_or_create("program", b"key", create) == PARTS
    assert fresh(folder).get_or_create("program", b"key", create) == PARTS
    assert len(calls) == 1


def test_create_may_fill_the_metadata(folder):
    metadata: dict[str, object] = {}

    def create():
        metadata["milliseconds"] = 12
        return PARTS

    fresh(folder).get_or_create("program", b"key", create, metadata)
    (entry,) = fresh(folder).entries()
    assert entry.metadata == {"milliseconds": 12}


def test_create_may_ask_for_other_entries_and_for_its_own(folder):
    cache = fresh(folder)

    def program():
        kernel = cache.get_or_create("kernel", b"k", lambda: {"image": b"code"})
        own = cache.get_or_create("program", b"p", lambda: {"own": b"inner"})
        return {**kernel, **own}

    assert cache.get_or_create("program", b"p", program) == {"image": b"code", "own": b"inner"}


def test_an_error_in_create_keeps_nothing(folder):
    cache = fresh(folder)

    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cache.get_or_create("kernel", b"key", fail)
    assert cache.get("kernel", b"key") is None
    assert cache.get_or_create("kernel", b"key", lambda: PARTS) == PARTS


def test_threads_that_miss_together_create_once(folder):
    cache = fresh(folder)
    barrier = threading.Barrier(8)
    calls: list[int] = []
    results: list[object] = []

    def create():
        calls.append(1)
        time.sleep(0.05)
        return PARTS

    def run():
        barrier.wait()
        results.append(cache.get_or_create("kernel", b"key", create))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert results == [PARTS] * 8


def test_entries_describe_themselves(folder):
    before = time.time()
    cache = fresh(folder)
    cache.put("kernel", b"\x01\x02", PARTS, {"name": "gelu"})
    (entry,) = cache.entries()
    assert (entry.kind, entry.key, entry.metadata) == ("kernel", b"\x01\x02", {"name": "gelu"})
    assert entry.sizes == {"image": 100, "entry": 1}
    assert before - 2 <= entry.created <= time.time()
    assert abs(entry.used - entry.created) < 60
    assert entry.nbytes == os.path.getsize(entry.path)
    assert cache.contents(entry).parts == PARTS


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "version", "garbage"])
def test_a_damaged_entry_is_a_miss_and_gets_replaced(folder, damage):
    fresh(folder).put("kernel", b"key", PARTS)
    (path,) = entry_files(folder)
    data = bytearray(path.read_bytes())
    if damage == "truncate":
        del data[-1:]
    elif damage == "flip":
        data[len(data) // 2] ^= 1
    elif damage == "empty":
        data.clear()
    elif damage == "version":
        data[8] += 1
    else:
        data[:] = b"<html>" * 50
    path.write_bytes(data)

    assert fresh(folder).get("kernel", b"key") is None
    count, damaged = fresh(folder).verify()
    assert (count, len(damaged)) == (1, 1)
    assert damaged[0][0] == str(path)
    assert fresh(folder).get_or_create("kernel", b"key", lambda: PARTS) == PARTS
    assert fresh(folder).get("kernel", b"key") == PARTS
    assert fresh(folder).verify() == (1, [])


def test_a_flip_of_any_byte_of_a_small_entry_is_a_miss(folder):
    fresh(folder).put("kernel", b"key", {"a": b"code"})
    (path,) = entry_files(folder)
    data = path.read_bytes()
    for position in range(len(data)):
        path.write_bytes(data[:position] + bytes([data[position] ^ 0x10]) + data[position + 1 :])
        assert fresh(folder).get("kernel", b"key") is None
    path.write_bytes(data)
    assert fresh(folder).get("kernel", b"key") == {"a": b"code"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the platform has no FIFOs")
def test_a_fifo_with_an_entrys_name_does_not_block(folder):
    fresh(folder).put("kernel", b"key", PARTS)
    (path,) = entry_files(folder)
    path.unlink()
    os.mkfifo(path)
    assert fresh(folder).get("kernel", b"key") is None
    assert fresh(folder).get_or_create("kernel", b"key", lambda: PARTS) == PARTS
    assert fresh(folder).get("kernel", b"key") == PARTS


def test_folder_and_files_are_private(folder):
    old = os.umask(0)
    try:
        fresh(folder).put("kernel", b"key", PARTS)
    finally:
        os.umask(old)
    (path,) = entry_files(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_temporary_file_is_left(folder):
    fresh(folder).put("kernel", b"key", PARTS)
    assert not [item for item in folder.iterdir() if item.name.startswith(".tmp-")]


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_is_refused(folder, mode):
    fresh(folder).put("kernel", b"key", PARTS)
    folder.chmod(mode)
    cache = fresh(folder)
    with pytest.warns(CacheWarning, match="writable by others"):
        assert cache.get("kernel", b"key") is None
    # One warning, and the work goes on.
    assert cache.get_or_create("kernel", b"other", lambda: PARTS) == PARTS
    assert len(entry_files(folder)) == 1
    with pytest.raises(CacheError, match="writable by others"):
        fresh(folder, strict=True).get("kernel", b"key")
    with pytest.raises(CacheError, match="writable by others"):
        fresh(folder).clear()


def test_a_foreign_folder_is_refused(folder, monkeypatch):
    fresh(folder).put("kernel", b"key", PARTS)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.warns(CacheWarning, match="owned by another user"):
        assert fresh(folder).get("kernel", b"key") is None
    with pytest.raises(CacheError, match="owned by another user"):
        list(fresh(folder).entries())


def test_a_file_that_others_may_write_is_a_miss(folder):
    fresh(folder).put("kernel", b"key", PARTS)
    entry_files(folder)[0].chmod(0o666)
    assert fresh(folder).get("kernel", b"key") is None


def failing(monkeypatch, name: str, code: int) -> None:
    def fail(*_arguments, **_options):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(cache_folder.os, name, fail)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE])
def test_a_folder_that_cannot_be_read_is_a_miss_and_one_warning(folder, monkeypatch, code):
    fresh(folder).put("kernel", b"key", PARTS)
    cache, strict = fresh(folder), fresh(folder, strict=True)
    failing(monkeypatch, "open", code)
    with pytest.warns(CacheWarning, match="cannot read") as caught:
        assert cache.get("kernel", b"key") is None
        assert cache.get_or_create("kernel", b"key", lambda: PARTS) == PARTS
    assert len(caught) == 1
    with pytest.raises(CacheError, match="cannot read"):
        strict.get("kernel", b"key")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk_costs_one_warning_and_no_answer(folder, monkeypatch, code):
    cache, strict = fresh(folder), fresh(folder, strict=True)
    written = os.write

    def fill(descriptor: int, data) -> int:
        if len(data) > 60:
            return written(descriptor, data[:60])
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(cache_folder.os, "write", fill)
    with pytest.warns(CacheWarning, match="cannot write") as caught:
        assert cache.get_or_create("kernel", b"a", lambda: PARTS) == PARTS
        assert cache.get_or_create("kernel", b"b", lambda: PARTS) == PARTS
    assert len(caught) == 1
    with pytest.raises(CacheError, match="cannot write"):
        strict.put("kernel", b"c", PARTS)
    assert not entry_files(folder)
    assert not list(folder.glob(".tmp-*"))
    assert cache.get("kernel", b"a") == PARTS


def test_a_read_only_folder_is_read(folder, monkeypatch):
    fresh(folder).put("kernel", b"key", PARTS)
    opened = os.open

    def read_only(path, flags, *mode) -> int:
        if flags & os.O_ACCMODE != os.O_RDONLY:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return opened(path, flags, *mode)

    monkeypatch.setattr(cache_folder.os, "open", read_only)
    cache = fresh(folder)
    assert cache.get("kernel", b"key") == PARTS
    with pytest.warns(CacheWarning, match="cannot write"):
        cache.put("kernel", b"other", PARTS)


def test_a_file_in_place_of_the_folder(folder):
    folder.write_text("not a folder")
    with pytest.warns(CacheWarning):
        assert fresh(folder).get_or_create("kernel", b"key", lambda: PARTS) == PARTS


def test_a_removed_folder_is_made_again(folder):
    cache = fresh(folder)
    for key in (b"a", b"b"):
        cache.put("kernel", key, PARTS)
        assert fresh(folder).get("kernel", key) == PARTS
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()
        assert fresh(folder).get("kernel", key) is None


def test_without_the_disk_nothing_is_written(folder):
    cache = fresh(folder, disk=False)
    cache.put("kernel", b"key", PARTS)
    assert cache.get("kernel", b"key") == PARTS
    assert not folder.exists()


def set_used(folder: Path, kind: str, key: bytes, used: float) -> None:
    name = entry_name(kind, key)
    os.utime(folder / name[:2] / f"{name[2:]}.lam", (used, used))


def test_prune_removes_the_least_recently_used(folder):
    cache = fresh(folder)
    now = time.time()
    for position, key in enumerate((b"a", b"b", b"c", b"d")):
        cache.put("kernel", key, PARTS)
        set_used(folder, "kernel", key, now - 100_000 + position)
    # A hit makes the oldest the newest.
    assert fresh(folder).get("kernel", b"a") == PARTS
    sizes = [path.stat().st_size for path in entry_files(folder)]
    count, nbytes = cache.prune(2 * max(sizes))
    assert count == 2
    assert nbytes == sum(sizes) - sum(path.stat().st_size for path in entry_files(folder))
    found = {key for key in (b"a", b"b", b"c", b"d") if fresh(folder).get("kernel", key)}
    assert found == {b"a", b"d"}
    assert cache.prune() == (0, 0)


def test_a_hit_writes_nothing_within_the_hour(folder):
    fresh(folder).put("kernel", b"key", PARTS)
    now = time.time()
    set_used(folder, "kernel", b"key", now - 100)
    fresh(folder).get("kernel", b"key")
    assert entry_files(folder)[0].stat().st_mtime == pytest.approx(now - 100, abs=1)


def test_the_bound_holds(folder):
    bound = 200_000
    cache = fresh(folder, max_bytes=bound)
    largest = 0
    for number in range(150):
        cache.put("kernel", b"%d" % number, {"image": bytes(4000)})
        largest = max(largest, sum(path.stat().st_size for path in entry_files(folder)))
    assert bound // 2 < largest <= bound
    assert fresh(folder).get("kernel", b"149") is not None


def test_an_entry_beyond_the_bound_is_kept_in_memory_only(folder):
    cache = fresh(folder, max_bytes=1000)
    cache.put("kernel", b"key", {"image": bytes(2000)})
    assert cache.get("kernel", b"key") == {"image": bytes(2000)}
    assert not entry_files(folder)


def test_temporary_files_of_dead_processes_are_swept(folder):
    cache = fresh(folder, max_bytes=100_000)
    cache.put("kernel", b"a", PARTS)
    old, new = folder / ".tmp-1-old", folder / ".tmp-1-new"
    for path in (old, new):
        path.write_bytes(b"half an entry")
    os.utime(old, (1, time.time() - 2 * cache_folder.STALE_SECONDS))
    for number in range(10):
        cache.put("kernel", b"%d" % number, {"image": bytes(2000)})
    assert not old.exists()
    assert new.exists()


def test_a_sweep_that_fails_is_nobodys_business(folder, monkeypatch):
    cache = fresh(folder, max_bytes=10_000, strict=True)
    failing(monkeypatch, "scandir", errno.EIO)
    failing(monkeypatch, "truncate", errno.EIO)
    for number in range(10):
        cache.put("kernel", b"%d" % number, PARTS)
    assert cache.statistics.writes == 10


def test_clear(folder):
    cache = fresh(folder)
    for number in range(20):
        cache.put("kernel", b"%d" % number, PARTS)
    total = sum(path.stat().st_size for path in entry_files(folder))
    assert cache.clear() == (20, total)
    assert not entry_files(folder)
    assert cache.get("kernel", b"3") is None
    cache.put("kernel", b"3", PARTS)
    assert fresh(folder).get("kernel", b"3") == PARTS


def test_clearing_a_missing_folder(folder):
    assert fresh(folder).clear() == (0, 0)
    assert list(fresh(folder).entries()) == []
    assert fresh(folder).verify() == (0, [])


def test_metadata_that_json_cannot_hold_is_the_callers_error(folder):
    with pytest.raises(TypeError):
        fresh(folder).put("kernel", b"key", PARTS, {"bad": object()})


def test_a_warm_hit_is_fast(folder):
    parts = {"image": os.urandom(20_000)}
    keys = [b"%d" % number for number in range(50)]
    cache = fresh(folder)
    for key in keys:
        cache.put("kernel", key, parts)
    seconds = []
    for _ in range(5):
        warm = fresh(folder)
        start = time.perf_counter()
        for key in keys:
            warm.get("kernel", key)
        seconds.append((time.perf_counter() - start) / len(keys))
    assert min(seconds) < 0.0005


def test_the_folder_is_the_environments(monkeypatch, tmp_path):
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path / "mine"))
    assert default_folder() == str(tmp_path / "mine")
    assert ModuleCache().folder == str(tmp_path / "mine")


def test_the_folder_is_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAMINA_CACHE_DIR", "here")
    assert default_folder() == str(tmp_path / "here")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs is called itself")
@pytest.mark.parametrize("base", [None, "/var/tmp/some-cache"])
def test_the_folder_is_that_of_platformdirs(monkeypatch, base):
    import platformdirs

    monkeypatch.delenv("LAMINA_CACHE_DIR", raising=False)
    if base is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert default_folder() == platformdirs.user_cache_dir("lamina", appauthor=False)


def test_without_a_home_the_folder_is_a_temporary_one(monkeypatch):
    monkeypatch.delenv("LAMINA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert os.path.isabs(default_folder())
    assert default_folder().endswith(f"lamina-{os.geteuid()}")


def test_the_default_cache_is_one(monkeypatch, tmp_path):
    monkeypatch.setattr(cache_module, "_default", None)
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("LAMINA_CACHE_BYTES", "1MiB")
    monkeypatch.setenv("LAMINA_CACHE_STRICT", "1")
    monkeypatch.setenv("LAMINA_CACHE", "0")
    cache = cache_module.default_cache()
    assert cache is cache_module.default_cache()
    assert (cache.max_bytes, cache.strict, cache.disk) == (2**20, True, False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_its_parents_threads(folder):
    cache = fresh(folder)
    started, finish = threading.Event(), threading.Event()

    def create():
        started.set()
        finish.wait(20)
        return PARTS

    thread = threading.Thread(target=cache.get_or_create, args=("kernel", b"key", create))
    thread.start()
    started.wait(20)
    with cache._lock, cache._memory._lock:
        child = os.fork()
        if child == 0:
            found = cache.get_or_create("kernel", b"key", lambda: {"own": b"1"})
            os._exit(0 if found == {"own": b"1"} else 1)
    end = time.monotonic() + 10
    done, status = 0, 1
    while not done and time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.005)
    if not done:
        os.kill(child, 9)
        os.waitpid(child, 0)
    finish.set()
    thread.join()
    assert done
    assert status == 0
