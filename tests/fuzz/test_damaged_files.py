"""Damaged files of every format, and entries of the code cache: a value or an error of whorl's, soon, and no file.

`regressions` keeps what was once not so. `WHORL_FUZZ_FILES` says how many files, `WHORL_FUZZ_SEED` which; a campaign
prints its seed.
"""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

import pytest

import whorl
from fuzz import damage
from fuzz.campaign import limit_process, run
from fuzz.damaged import ENTRIES, GOOD, Damaged, Source, entry_of, outcome, use_cache

FILES = int(os.environ.get("WHORL_FUZZ_FILES", "1500"))
SEED = os.environ.get("WHORL_FUZZ_SEED", "7")
EVERY = 7
"""Where there are few files, each so many-th model is damaged: to make all of them takes a minute."""
HERE = Path(__file__).parent
REGRESSIONS = sorted(path for kind in ("onnx", "mdf", "mlir") for path in HERE.glob(f"regressions/{kind}/*.*"))


@pytest.mark.slow
def test_damaged_files_are_refused_or_run():
    every = EVERY if FILES < 50_000 else 1
    command = [sys.executable, "-m", "fuzz.campaign", "--count", str(FILES), "--seed", SEED, "--every", str(every)]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        command, cwd=HERE.parent, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"seed {SEED}: {FILES} files in" in done.stdout


@pytest.fixture(scope="module")
def process():
    with ProcessPoolExecutor(1, initializer=limit_process) as pool:
        yield pool


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_what_was_once_mishandled_is_refused_or_run(process, tmp_path, path):
    damaged = Damaged(path.parent.name, {f"model{path.suffix}": path.read_bytes()})
    assert process.submit(outcome, damaged, tmp_path).result(60) in GOOD


def test_same_seed_and_number_make_the_same_file():
    one, other = Source(3, EVERY), Source(3, EVERY)
    assert [one.file(n) for n in range(40)] == [other.file(n) for n in range(40)]
    assert one.file(5) != one.file(10)


def test_damage_of_every_kind_changes_most_files():
    source, random = Source(1, EVERY), Random(1)
    (document, _), xml, text = source.mdf[0], source.ir[0][0], source.mlir[0]
    changed = {
        "bytes": [damage.damage_bytes(source.onnx[0], random) != source.onnx[0] for _ in range(50)],
        "fields": [damage.damage_proto(source.onnx[0], random) != source.onnx[0] for _ in range(50)],
        "elements": [damage.damage_xml(xml, random) != damage.damage_xml(xml, random) for _ in range(50)],
        "values": [damage.damage_document(document, random) != document for _ in range(50)],
        "tokens": [damage.damage_tokens(text, random) != text for _ in range(50)],
    }
    assert {kind: sum(actual) > 30 for kind, actual in changed.items()} == dict.fromkeys(changed, True)


def test_undamaged_entry_is_read_and_one_of_another_key_is_not(tmp_path):
    key, other = ENTRIES[:2]
    assert use_cache(_written(Damaged("cache", {f"{key}.o": entry_of(key)}, key=key), tmp_path), tmp_path) == "read"
    assert (
        use_cache(_written(Damaged("cache", {f"{key}.o": entry_of(other)}, key=key), tmp_path), tmp_path) == "refused"
    )


def _written(damaged, folder):
    for name, data in damaged.files.items():
        (folder / name).write_bytes(data)
    return damaged


class Strange(Exception):
    """What no reader may raise."""


def test_faults_are_reported_with_what_makes_them_again(monkeypatch):
    source, report = damaged_documents(), []
    monkeypatch.setattr(whorl, "load", _fail)
    figures = run(source, range(6), report.append)
    assert figures.counts.total() == 6 and list(figures.faults.values()) == [[0, 1, 2, 3, 4, 5]]
    assert (
        len(report) == 1 and report[0].startswith("number 0: mdf: Strange at ") and "6 x mdf: Strange" in figures.text()
    )


def _fail(path):
    raise Strange("cannot be read")


def damaged_documents():
    """A source whose models are made before anything is patched."""
    source = Source(3, EVERY, ["mdf"])
    assert source.mdf
    return source


def test_end_of_the_process_is_a_fault_and_the_next_file_follows(monkeypatch):
    source = damaged_documents()
    monkeypatch.setattr(whorl, "load", lambda path: os._exit(3))
    figures = run(source, range(2), lambda text: None)
    assert figures.faults == {"mdf: the process ended with 3": [0, 1]}


def test_file_that_is_left_behind_is_a_fault(monkeypatch, tmp_path):
    def leave(path):
        path.with_suffix(".tmp").touch()
        raise whorl.LoadError("no")

    monkeypatch.setattr(whorl, "load", leave)
    assert outcome(Damaged("mdf", {"model.json": b"{}"}), tmp_path) == "left behind: ['model.tmp']"
    assert list(tmp_path.iterdir()) == []
