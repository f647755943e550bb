"""What the processes of test_cache_processes.py run: ``cache_worker.py TASK FOLDER [SEED]``."""

from __future__ import annotations

import hashlib
import os
import random
import sys
import threading
import time

from lamina.runtime import cache_folder
from lamina.runtime.cache import ModuleCache

KEYS = [b"%d" % number for number in range(30)]
THREADS = 8
SECONDS = 2.0


def parts_of(key: bytes) -> dict[str, bytes]:
    """The one right content of a key, of a size that depends on the key."""
    digest = hashlib.sha256(key).digest()
    return {"key": key, "image": digest * (1 + int(key) * 37)}


def hammer(folder: str, seed: int) -> None:
    """Uses one cache from several threads in every way, checking what it gives."""
    errors: list[BaseException] = []
    cache = ModuleCache(folder, max_bytes=300_000, memory_bytes=50_000, strict=True)

    def use(chance: random.Random) -> None:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            key = chance.choice(KEYS)
            action = chance.random()
            if action < 0.4:
                found = cache.get("kernel", key)
                assert found is None or found == parts_of(key), key
            elif action < 0.8:
                found = cache.get_or_create("kernel", key, lambda key=key: parts_of(key))
                assert found == parts_of(key), key
            elif action < 0.95:
                cache.put("kernel", key, parts_of(key))
            elif action < 0.97:
                cache.prune(chance.randrange(300_000))
            elif action < 0.98:
                cache.clear()
            else:
                for entry in cache.entries():
                    assert entry.sizes["image"] == len(parts_of(entry.key)["image"])
                _, damaged = cache.verify()
                assert not damaged, damaged

    def run(number: int) -> None:
        try:
            use(random.Random(f"{seed} {number}"))
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise SystemExit(f"{len(errors)} threads failed: {errors[0]!r}")
    print(cache.statistics)


def stop_in_mid_write(folder: str, _seed: int) -> None:
    """Writes half an entry, says so, and waits to be killed."""
    write = cache_folder._write

    def half(descriptor: int, data: bytes) -> None:
        write(descriptor, data[: len(data) // 2])
        print("half", flush=True)
        time.sleep(60)

    cache_folder._write = half
    ModuleCache(folder, strict=False).put("kernel", b"7", parts_of(b"7"))


def write_beyond_a_limit(folder: str, _seed: int) -> None:
    """Lets the system itself refuse a write in the middle of a file."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
    cache = ModuleCache(folder, strict=False)
    for key in KEYS:
        assert cache.get_or_create("kernel", key, lambda key=key: parts_of(key)) == parts_of(key)


def unprivileged(folder: str, _seed: int) -> None:
    """Uses a folder without the right to, as any user but root would."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    cache = ModuleCache(folder, strict=False)
    assert cache.get_or_create("kernel", b"7", lambda: parts_of(b"7")) == parts_of(b"7")


if __name__ == "__main__":
    task, where, *rest = sys.argv[1:]
    globals()[task](where, int(rest[0]) if rest else 0)
