"""What the machine is, and the BLAS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lamina.errors import CodegenError
from lamina.runtime import blas, host


def test_the_key_of_the_host_is_the_same_in_every_process() -> None:
    code = "from lamina.runtime import host; print(host.host_key().hex())"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == host.host_key().hex()
    assert len(host.host_key()) == 32


def test_usable_cpus_and_memory_are_within_the_machines() -> None:
    assert 1 <= host.usable_cpus() <= (os.cpu_count() or 1)
    assert 0 < host.total_memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert host.processor_name()


@pytest.mark.parametrize(
    ("version", "files", "wanted"),
    [
        (2, {"cpu.max": "150000 100000\n"}, 1.5),
        (2, {"cpu.max": "max 100000\n"}, None),
        (2, {}, None),
        (1, {"cpu.cfs_quota_us": "400000\n", "cpu.cfs_period_us": "100000\n"}, 4.0),
        (1, {"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, None),
    ],
)
def test_quotas(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: int,
    files: dict[str, str],
    wanted: float | None,
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    monkeypatch.setattr(host, "_control_groups", lambda controller: [(version, str(tmp_path))])
    assert host._cpu_quota() == wanted
    if wanted is not None:
        assert host.usable_cpus() <= -(-wanted // 1)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0::/a/b\n", [(2, "/sys/fs/cgroup/a/b"), (2, "/sys/fs/cgroup/a"), (2, "/sys/fs/cgroup")]),
        (
            "4:memory:/x\n3:cpu,cpuacct:/\n0::/\n",
            [(1, "/sys/fs/cgroup/cpu"), (2, "/sys/fs/cgroup")],
        ),
        ("", []),
    ],
)
def test_control_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, wanted: list[tuple[int, str]]
) -> None:
    (tmp_path / "cgroup").write_text(text, encoding="ascii")
    monkeypatch.setattr(host, "_CONTROL_GROUPS_FILE", str(tmp_path / "cgroup"))
    groups = [(version, os.path.normpath(folder)) for version, folder in
              host._control_groups("cpu")]  # fmt: skip
    assert groups == wanted


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs /proc")
def test_the_blas_starts_no_threads_and_leaves_the_environment() -> None:
    code = (
        "import os\n"
        "from lamina.runtime import blas\n"
        "before = dict(os.environ), len(os.listdir('/proc/self/task'))\n"
        "assert blas.library_function('cblas_sgemm')\n"
        "assert (dict(os.environ), len(os.listdir('/proc/self/task'))) == before\n"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "8"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_an_unknown_function_of_the_blas() -> None:
    with pytest.raises(CodegenError, match="no function cblas_unknown"):
        blas.library_function("cblas_unknown")
