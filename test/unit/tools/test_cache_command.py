"""``lamina cache``: its tables, exit statuses and messages."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from lamina.runtime import serialization
from lamina.runtime.artifact import Artifact, Launch, Output, Pointer, Slot
from lamina.runtime.cache import ModuleCache
from lamina.tools import cache as command

KERNEL = bytes(range(32))
ARTIFACT = Artifact(
    "x86_64 cpu=[odd]",
    (((8,), "float32"),),
    (Output((8,), "float32", ("slot", 1)),),
    (Slot("input"), Slot("output"), Slot("workspace", offset=64)),
    (Launch(KERNEL.hex(), (Pointer(0), Pointer(1, 16), Pointer(2), 8), 3, 1),),
    4096,
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch) -> ModuleCache:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(folder))
    monkeypatch.setenv("COLUMNS", "100")
    return ModuleCache(folder)


@pytest.fixture
def filled(cache: ModuleCache) -> ModuleCache:
    cache.put("kernel", KERNEL, {"image": b"\x90" * 3000, "entry": b"0"}, {"name": "gelu [f32]"})
    cache.put("program", b"\xab" * 32, {"artifact": serialization.dump(ARTIFACT)})
    return cache


def lamina_cache(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="lamina cache")
    command.add_arguments(parser)
    return command.run(parser.parse_args(arguments))


def test_list(filled, capsys):
    assert lamina_cache("ls") == 0
    output = capsys.readouterr().out
    assert re.search(r"kernel +0001020304050607 +gelu \[f32\] +3\.\d KiB +\d s +\d s", output)
    assert re.search(r"program +abababababababab +artifact", output)
    assert re.search(r"2 entries, 3\.\d KiB of 2\.0 GiB", output)
    assert filled.folder in output


def test_list_of_one_kind_as_json(filled, capsys):
    assert lamina_cache("ls", "--kind", "kernel", "--json") == 0
    (line,) = capsys.readouterr().out.splitlines()
    entry = json.loads(line)
    assert entry["key"] == KERNEL.hex()
    assert entry["sizes"] == {"image": 3000, "entry": 1}


def test_list_of_nothing(cache, capsys):
    assert lamina_cache("ls") == 0
    assert "0 entries, 0 B" in capsys.readouterr().out


def test_lists_are_sorted(filled, capsys):
    assert lamina_cache("ls", "--sort", "size", "--json") == 0
    sizes = [json.loads(line)["nbytes"] for line in capsys.readouterr().out.splitlines()]
    assert sizes == sorted(sizes, reverse=True)


def test_show_a_kernel(filled, capsys):
    assert lamina_cache("show", "0001") == 0
    output = capsys.readouterr().out
    assert KERNEL.hex() in output
    assert "gelu [f32]" in output
    assert re.search(r"part image +2\.9 KiB", output)


def test_show_a_program(filled, capsys):
    assert lamina_cache("show", "AB") == 0
    output = capsys.readouterr().out
    assert "target    x86_64 cpu=[odd]" in output
    assert "inputs    float32[8]" in output
    assert "outputs   float32[8] from slot 1" in output
    assert re.search(r"0001020304050607 +3 +1 +input0 output0\+16 workspace\+64 8", output)


def test_show_writes_a_part(filled, capfdbinary):
    assert lamina_cache("show", "00", "--part", "image") == 0
    assert capfdbinary.readouterr().out == b"\x90" * 3000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "77"), "no entry's key starts with 77"),
        (("show", ""), "2 keys start with"),
        (("show", "00", "--part", "text"), "no part 'text'; it has image, entry"),
    ],
)
def test_show_says_why_it_cannot(filled, capsys, arguments, message):
    assert lamina_cache(*arguments) == 1
    assert message in capsys.readouterr().err


def test_prune(filled, capsys):
    assert lamina_cache("prune", "--max-size", "2KB") == 0
    assert re.match(r"removed \d (entry|entries), \d", capsys.readouterr().out)
    assert sum(entry.nbytes for entry in filled.entries()) <= 2048


def test_prune_of_a_size_that_is_none(filled, capsys):
    assert lamina_cache("prune", "--max-size", "lots") == 2
    assert "wanted a size" in capsys.readouterr().err


def test_clear(filled, capsys):
    assert lamina_cache("clear") == 0
    assert "removed 2 entries" in capsys.readouterr().out
    assert list(filled.entries()) == []


def test_verify(filled, capsys):
    assert lamina_cache("verify") == 0
    assert capsys.readouterr().out == "2 entries, 0 damaged\n"


def test_verify_finds_damage(filled, capsys):
    path = Path(next(iter(filled.entries())).path)
    path.write_bytes(path.read_bytes()[:-1])
    assert lamina_cache("verify") == 1
    output = capsys.readouterr().out
    assert output.startswith(f"{path}: ")
    assert output.endswith("2 entries, 1 damaged\n")


def test_a_refused_folder(filled, capsys):
    Path(filled.folder).chmod(0o777)
    assert lamina_cache("ls") == 1
    assert "writable by others" in capsys.readouterr().err


def test_wrong_usage():
    with pytest.raises(SystemExit) as caught:
        lamina_cache("polish")
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 * 2**40, "5120.0 GiB")],
)
def test_sizes_for_people(count, text):
    assert command.format_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (119, "119 s"), (130, "2 min"), (7300, "2 h"), (200_000, "2 d")],
)
def test_ages_for_people(seconds, text):
    assert command.format_age(seconds) == text
