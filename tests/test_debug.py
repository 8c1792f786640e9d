"""What WHORL_DEBUG asks for: words, dumps, and memory with a pattern in it."""

import os
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from whorl import debug as module
from whorl.debug import POISON, WORDS, Debug, debug, dump_module, dump_program, name_code, poison
from whorl.errors import RunError


@pytest.fixture
def look_at(monkeypatch):
    """Says what WHORL_DEBUG is; it is looked at anew."""

    def ask(text: str) -> Debug:
        monkeypatch.setenv("WHORL_DEBUG", text)
        debug.cache_clear()
        return debug()

    yield ask
    monkeypatch.undo()
    debug.cache_clear()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Debug()),
        ("strict", Debug(is_strict=True)),
        ("programs,guard,poison", Debug(by_programs=True, guarded=True, poisons=True)),
        (",strict,,unoptimised,", Debug(is_strict=True, is_unoptimised=True)),
        ("dump:some/folder,poison", Debug(Path("some/folder"), poisons=True)),
        ("perf", Debug(names_code=True)),
    ],
)
def test_words_between_commas_are_read(look_at, text, expected):
    assert look_at(text) == expected and debug() is debug()
    assert debug().changes_runs is ("programs" in text or "guard" in text)


def test_word_that_is_unknown_is_refused(look_at):
    with pytest.raises(RunError) as caught:
        look_at("strict,Poison")
    assert str(caught.value) == f"WHORL_DEBUG asks for 'Poison'\n  fix: choose from dump:FOLDER, {', '.join(WORDS)}"


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_poisoned_floats_are_no_numbers(look_at, dtype):
    look_at("poison")
    array = poison(np.zeros((3, 5), dtype))
    assert np.isnan(array.astype(np.float64)).all()


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (2, 5)])
@pytest.mark.parametrize("dtype", [np.uint8, np.bool_, np.int16, np.int64])
def test_poison_fills_every_byte_of_the_very_array(look_at, shape, dtype):
    look_at("poison")
    array = np.zeros(shape, dtype)
    assert poison(array) is array
    filled = np.frombuffer(array.tobytes(), np.uint8)
    assert set(filled.tolist()) <= {POISON & 0xFF, POISON >> 8} and filled.size == array.nbytes


def test_large_array_is_poisoned_at_both_ends(look_at, monkeypatch):
    look_at("poison")
    monkeypatch.setattr(module, "POISONED_END", 4)
    array = poison(np.zeros(10, np.int16))
    assert (array == POISON).tolist() == [True, True, *[False] * 6, True, True]


def test_memory_is_left_alone_without_a_word(look_at):
    look_at("strict")
    assert not poison(np.zeros(4)).any()


def test_programs_are_written_with_numbers_or_names_and_modules_beside_them(look_at, tmp_path):
    look_at(f"dump:{tmp_path / 'deep' / 'folder'}")
    first, second, named = dump_program("one"), dump_program("two"), dump_program("three", "nest")
    assert first != second and named.endswith("-nest\n")
    dump_module(f"{named}define void @f()", "optimised")
    dump_module("define void @g()", "without a mark")
    files = {path.name: path.read_text() for path in (tmp_path / "deep" / "folder").iterdir()}
    stem = named.removeprefix("; dumped as ").strip()
    assert files[f"{stem}.program"] == "three\n" and files[f"{stem}.ll"] == "optimised\n" and len(files) == 4


def test_nothing_is_written_without_a_word(look_at, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    look_at("poison")
    assert dump_program("one") == ""
    dump_module("; dumped as x\n", "module")
    assert not list(tmp_path.iterdir())


def test_perf_finds_names_of_functions_where_the_word_says_so(look_at, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "PERF_FOLDER", tmp_path)
    look_at("strict")
    name_code([(16, 8, "hidden")])
    assert not list(tmp_path.iterdir())
    look_at("perf")
    name_code([(4096, 32, "first")])
    name_code([(0xABC000, 255, "second"), (0xABD000, 16, "third")])
    expected = "1000 20 first\nabc000 ff second\nabd000 10 third\n"
    assert (tmp_path / f"perf-{os.getpid()}.map").read_text() == expected
