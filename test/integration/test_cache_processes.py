"""One cache folder under many processes: races, kills, limits of the system, and rights."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from lamina.runtime.cache import ModuleCache

WORKER = Path(__file__).with_name("cache_worker.py")


def start(task: str, folder: Path, seed: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "always", str(WORKER), task, str(folder), str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(task: str, folder: Path) -> str:
    """What the worker wrote to its standard error."""
    process = start(task, folder)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return errors


def test_eight_processes_of_eight_threads_on_one_folder(tmp_path):
    folder = tmp_path / "cache"
    processes = [start("hammer", folder, seed) for seed in range(8)]
    results = [process.communicate(timeout=120) for process in processes]
    for process, (output, errors) in zip(processes, results, strict=True):
        assert process.returncode == 0, errors
        assert errors == ""
        assert "writes=" in output
    cache = ModuleCache(folder)
    count, damaged = cache.verify()
    assert damaged == []
    assert count > 0
    assert sum(entry.nbytes for entry in cache.entries()) <= 2 * 300_000
    assert not list(folder.glob(".tmp-*"))


def test_killed_in_mid_write(tmp_path):
    folder = tmp_path / "cache"
    with start("stop_in_mid_write", folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        process.kill()
    (half,) = folder.glob(".tmp-*")
    assert half.stat().st_size > 0

    cache = ModuleCache(folder, max_bytes=100_000)
    assert cache.get("kernel", b"7") is None
    assert list(cache.entries()) == []
    assert cache.get_or_create("kernel", b"7", lambda: {"image": b"whole"}) == {"image": b"whole"}
    assert ModuleCache(folder).get("kernel", b"7") == {"image": b"whole"}
    # Two hours later a sweep takes the half away.
    os.utime(half, (time.time() - 7200, time.time() - 7200))
    for number in range(10):
        cache.put("kernel", b"%d" % number, {"image": bytes(5000)})
    assert not half.exists()


def test_the_system_refuses_to_write_on(tmp_path):
    folder = tmp_path / "cache"
    errors = run("write_beyond_a_limit", folder)
    assert errors.count("CacheWarning: module cache: cannot write") == 1, errors
    cache = ModuleCache(folder)
    count, damaged = cache.verify()
    assert damaged == []
    # Small entries were kept; of the others nothing is left.
    assert 0 < count < 30
    assert not list(folder.glob(".tmp-*"))


def test_an_unreadable_folder(tmp_path):
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.name.startswith("pytest-"):
            parent.chmod(parent.stat().st_mode | 0o055)
    folder = tmp_path / "closed" / "cache"
    ModuleCache(folder).put("kernel", b"7", {"image": b"x"})
    folder.parent.chmod(0o000)
    try:
        errors = run("unprivileged", folder)
    finally:
        folder.parent.chmod(0o700)
    assert errors.count("CacheWarning: module cache: cannot read") == 1, errors
    assert errors.count("Permission denied") == 1, errors


def test_a_cold_process_reads_what_another_wrote(tmp_path):
    folder = tmp_path / "cache"
    ModuleCache(folder).put("kernel", b"key", {"image": b"code"}, {"name": "gelu"})
    program = (
        "import sys; from lamina.runtime.cache import ModuleCache;"
        "assert ModuleCache(sys.argv[1]).get('kernel', b'key') == {'image': b'code'}"
    )
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, timeout=60)
