"""The command as a whole: exit codes, help, errors, and the documents that `--json` prints."""

import os
import subprocess
import sys

import pytest
from onnx_text import FOREVER, ROLLOUT, model

from whorl import cli
from whorl.cli.verbs import VERBS

CONSTANT = model("main () => (float y) { y = Constant<value = float {1}> () }")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([verb, "--help"] for verb in VERBS)])
def test_help_and_version_end_with_0(whorl, arguments):
    report = whorl(*arguments)
    assert report.code == 0 and report.err == ""
    assert report.out.startswith(("usage: whorl", "whorl 0.1.0"))


@pytest.mark.parametrize("verb", VERBS)
def test_help_lists_the_exit_codes(whorl, verb):
    assert cli.EPILOG in whorl(verb, "--help").out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["show"],
        ["show", "a.onnx", "b.onnx"],
        ["run", "m.onnx", "--max-iterations", "-1"],
        ["run", "m.onnx", "--timeout", "soon"],
        ["run", "m.onnx", "--timeout", "nan"],
        ["run", "m.onnx", "--random", "x"],
        ["convert", "m.onnx"],
        ["compare", "m.onnx", "--against", "abacus"],
        ["conformance", "--backend", "abacus"],
        ["run", "m.onnx", "--test-data", "folder", "--random", "0"],
        ["run", "m.onnx", "--random", "0", "--output", "out.npy"],
    ],
)
def test_wrong_use_ends_with_2(whorl, arguments):
    report = whorl(*arguments)
    assert report.code == 2 and report.out == "" and "whorl" in report.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shwo", "m.onnx"], "there is no verb 'shwo'\n  fix: did you mean 'show'?"),
        (["fly"], "there is no verb 'fly'\n  fix: whorl --help lists them"),
        (["run", "m.onnx", "--inptu", "x=1"], "run has no option --inptu\n  fix: did you mean '--input'?"),
        (["run", "m.onnx", "--zebra=1"], "run has no option --zebra\n  fix: whorl run --help lists the options"),
        (["show", "a.onnx", "b.onnx"], "show takes no further argument 'b.onnx'\n  fix: leave it out"),
    ],
)
def test_words_that_do_not_exist_are_refused_with_what_may_be_meant(whorl, arguments, message):
    assert whorl(*arguments).err == f"whorl: {message}\n"
    assert whorl(*arguments, "--json").document["error"]["kind"] == "UsageError"


def test_version_and_help_import_no_verb_and_nothing_large():
    code = "import sys; from whorl.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    for option in ("--version", "--help"):
        done = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True, check=True)
        loaded = done.stdout.splitlines()[-1].split()
        assert not {"numpy", "onnx", "llvmlite", "whorl.cli.arguments", "whorl.cli.verbs.run"} & {*loaded}


def test_missing_and_damaged_models_end_with_3(whorl, tmp_path):
    report = whorl("show", tmp_path / "none.onnx")
    assert (report.code, report.err) == (3, f"whorl: cannot read '{tmp_path}/none.onnx': No such file or directory\n")
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x0a\xff")
    for verb in (["run"], ["show"], ["check"], ["convert", tmp_path / "out.onnx"], ["compare"]):
        report = whorl(verb[0], tmp_path / "bad.onnx", *verb[1:])
        assert report.code == 3 and report.err.startswith("whorl: 'bad.onnx' is not an ONNX model: ")


def test_failed_run_ends_with_4(whorl, saved):
    report = whorl("run", saved(ROLLOUT), "--input", "count=13", "--input", f"table={[0.0] * 12}")
    position = "Gather 'read_row' in body of Loop 'rollout' (iteration 12)"
    assert (report.code, report.out) == (4, "")
    assert report.err == f"whorl: {position}: index 12 is outside [-12, 12) of axis 0\n"


@pytest.mark.parametrize("limit", [["--max-iterations", "3"], ["--timeout", "0.05"], ["--max-memory", "0K"]])
def test_limits_end_with_5(whorl, saved, limit):
    report = whorl("run", saved(FOREVER), "--input", "start=1", *limit)
    assert report.code == 5 and report.out == ""
    assert report.err.endswith(f"\n  fix: raise {limit[0].strip('-').replace('-', '_')}\n")


def test_output_that_cannot_be_written_ends_with_6(whorl, saved, tmp_path):
    report = whorl("convert", saved(ROLLOUT), tmp_path / "missing" / "out.onnx")
    assert report.code == 6 and "No such file or directory" in report.err
    report = whorl("run", saved(CONSTANT), "--output", tmp_path / "missing" / "o.npz")
    assert report.code == 6 and report.err.endswith("o.npz': No such file or directory\n")


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["show", "none.onnx"], 3, "LoadError"),
        (["run", "{model}", "--input", "nothing"], 2, "UsageError"),
        (["run", "{model}"], 4, "FeedError"),
        (["run", "{model}", "--random", "0", "--max-iterations", "0"], 5, "IterationLimitError"),
        (["convert", "{model}", "out.txt"], 6, "SaveError"),
    ],
)
def test_json_of_a_failure_is_one_document_too(whorl, saved, arguments, code, kind):
    path = str(saved(ROLLOUT))
    report = whorl(*(argument.replace("{model}", path) for argument in arguments), "--json")
    assert report.code == report.document["exit_code"] == code
    assert report.document["error"]["kind"] == kind and report.document["error"]["message"] in report.err


def test_interrupt_ends_with_130(whorl, saved, monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("whorl.cli.verbs.show.describe", interrupted)
    report = whorl("show", saved(ROLLOUT))
    assert (report.code, report.err) == (130, "whorl: interrupted\n")


def run_module(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "whorl", *map(str, arguments)], timeout=60, **options)


def test_python_m_whorl_is_the_command(saved):
    done = run_module("run", saved(ROLLOUT), "--random", "0", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("total: float32[] ")
    assert run_module("fly", stderr=subprocess.DEVNULL).returncode == 2


def test_reader_that_goes_away_is_no_failure(saved):
    read, write = os.pipe()
    os.close(read)
    done = run_module("show", saved(ROLLOUT), stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
