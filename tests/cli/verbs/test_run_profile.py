"""`whorl run --profile` and `--phases`: a trace with lanes for phases, graph, loops and compilation; a table."""

import json

import pytest
from onnx_text import model

NEST = model("""
    main (float[4] x, int64 n) => (float[4] y, float[4] z) {
        two = Constant<value = int64 {2}> ()
        start = Neg(x)
        [outer] y = Loop (n, "", start) <body = step (int64 i, bool go, float[4] h) => (bool on, float[4] h_out) {
            on = Identity(go)
            [inner] h_out = Loop (two, "", h) <
                body = deep (int64 j, bool go2, float[4] a) => (bool on2, float[4] b) {
                    on2 = Identity(go2)
                    b = Tanh(a)
                }>
        }>
        z = Abs(y)
    }""")


def spans(path, lane):
    """The spans of a lane in a trace file, checked for what the format asks."""
    document = json.loads(path.read_text())
    names = {e["tid"]: e["args"]["name"] for e in document["traceEvents"] if e["name"] == "thread_name"}
    events = [e for e in document["traceEvents"] if e["ph"] == "X"]
    assert all(e["ts"] >= 0 and e["dur"] >= 0 and e["tid"] in names for e in events)
    return [e for e in events if names[e["tid"]] == lane]


def test_interpreted_loops_show_their_iterations(whorl, saved, tmp_path):
    path = tmp_path / "trace.json"
    passed = ("--input", "n=3", "--random", "1", "--backend", "interpreter", "--profile", path)
    assert whorl("run", saved(NEST), *passed).code == 0
    assert [e["name"] for e in spans(path, "main graph")] == ["Neg 'start'", "Loop 'outer'", "Abs 'z'"]
    assert [e["args"]["iteration"] for e in spans(path, "Loop 'outer'")] == [0, 1, 2]
    assert [e["args"]["iteration"] for e in spans(path, "Loop 'inner'")] == [0, 1] * 3
    outer, inner = spans(path, "Loop 'outer'")[0], spans(path, "Loop 'inner'")[0]
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    assert spans(path, "compile") == []


def test_native_loops_show_slices_and_compilation(whorl, saved, tmp_path):
    path = tmp_path / "trace.json"
    passed = ("--input", "n=1000", "--random", "1", "--backend", "native", "--profile", path)
    assert whorl("run", saved(NEST), *passed).code == 0
    slices = spans(path, "Loop 'outer'")
    assert {e["name"] for e in slices} == {"slice"}
    assert sum(e["args"]["iterations"] for e in slices) == 1000
    assert "Loop 'outer'" in [e["name"] for e in spans(path, "compile")]


def test_trace_is_written_where_the_run_fails(whorl, saved, tmp_path):
    path = tmp_path / "trace.json"
    passed = ("--input", "n=3", "--random", "1", "--max-iterations", "2", "--profile", path)
    assert whorl("run", saved(NEST), *passed).code == 5
    assert sum(e["args"]["iterations"] for e in spans(path, "Loop 'outer'")) == 2


def test_profile_shows_the_native_run_of_a_session_unless_reported_otherwise(whorl, saved, tmp_path):
    path = tmp_path / "trace.json"
    passed = ("--input", "n=3", "--random", "1", "--profile", path)
    assert whorl("run", saved(NEST), *passed).code == 0
    assert {e["name"] for e in spans(path, "Loop 'outer'")} == {"slice"} and spans(path, "compile")
    assert whorl("run", saved(NEST), *passed, "--backend", "interpreter").code == 0
    assert {e["name"] for e in spans(path, "Loop 'outer'")} == {"iteration"} and not spans(path, "compile")


@pytest.mark.parametrize("name", ["ov_cpu", "openvino-cpu", "trace"])
def test_profile_that_is_no_trace_is_refused_and_not_written(whorl, saved, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    report = whorl("run", saved(NEST), "--random", 1, "--profile", name)
    fix = "write --profile trace.json; whose meaning .xml is read with is --compat openvino-cpu"
    text = f"whorl: --profile {name!r} does not end in .json\n  fix: {fix}\n"
    assert (report.code, report.out, report.err) == (2, "", text)
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_phases_are_a_table_after_the_outputs(whorl, saved):
    result = whorl("run", saved(NEST), "--input", "n=1000", "--random", "1", "--phases")
    assert result.code == 0
    outputs, table = result.out.split("phase ")
    assert outputs.startswith("y: float32[4] ")
    names = [line.split()[0] for line in table.splitlines()[1:]]
    assert names[-2:] == ["rest", "all"]
    assert {"parse", "infer", "plan", "lower", "emit", "cache", "link", "run"} <= {*names}


def test_phases_are_part_of_the_document(whorl, saved):
    result = whorl("run", saved(NEST), "--input", "n=3", "--random", "1", "--phases", "--json")
    document = json.loads(result.out)
    assert document["phases"]["parse"]["times"] == 1
    assert set(document["outputs"]) == {"y", "z"}


def test_trace_has_the_phases_of_both_threads(whorl, saved, tmp_path):
    path = tmp_path / "trace.json"
    assert whorl("run", saved(NEST), "--input", "n=1000", "--random", "1", "--profile", path).code == 0
    assert {"parse", "plan", "run"} <= {e["name"] for e in spans(path, "phases")}
    assert {"lower", "link"} <= {e["name"] for e in spans(path, "compile")}
