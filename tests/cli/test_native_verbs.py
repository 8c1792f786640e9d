"""`whorl compile`, `whorl bench` and `whorl show --native`: what they print and what they refuse."""

import re

import pytest
from onnx_text import model

from whorl.codegen import cache

SUM = model("""
    main (float[n] x, int64 steps) => (float[n] y) {
        [add] y = Loop (steps, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] h_out) {
            on = Identity(go)
            half = Constant<value = float {0.5}> ()
            less = Mul(h, half)
            h_out = Add(less, x)
        }>
    }""")
MIXED = model("""
    main (float[4, 4] x, int64 steps, string[2] names) => (float[4, 4] y, float[k] u, string[2] q) {
        a = Neg(x)
        b = Exp(a)
        c = Abs(b)
        [roll] y = Loop (steps, "", c) <body = step (int64 i, bool go, float[4, 4] h) => (bool on, float[4, 4] h2) {
            on = Identity(go)
            [det] d = Det(h)
            h2 = Add(h, d)
        }>
        [once] u = Unique(y)
        [text] q = Loop (steps, "", names) <body = same (int64 i, bool go, string[2] s) => (bool on, string[2] t) {
            on = Identity(go)
            t = Identity(s)
        }>
    }""")


def test_compile_tells_what_it_wrote(whorl, saved, tmp_path):
    told = whorl("compile", saved(SUM), "-o", tmp_path / "sum.o", "--dim", "n=3", "--header", tmp_path / "sum.h")
    assert (told.code, told.err) == (0, "")
    size = (tmp_path / "sum.o").stat().st_size
    assert re.fullmatch(
        rf"wrote {tmp_path}/sum.o: {size} bytes of code, \d+ bytes of workspace\n"
        r"input   x: float32\[3\]\ninput   steps: int64\[\]\noutput  y: float32\[3\]\ncall    sum_run\n"
        r"needs   .* of the C library\n",
        told.out,
    )
    header = (tmp_path / "sum.h").read_text()
    assert "#define SUM_INPUT_0_BYTES 12 /* x: float32, float [3] */" in header
    assert "#define SUM_INPUT_1_BYTES 8 /* steps: int64, int64_t * */" in header
    assert "int32_t sum_run(const void *const *inputs, void *const *outputs" in header


def test_compile_as_json_with_an_input_fixed(whorl, saved, tmp_path):
    output = tmp_path / "total.o"
    told = whorl("compile", saved(SUM), "-o", output, "--dim", "n=3", "--input", "steps=7", "--name", "total", "--json")
    assert told.document["name"] == "total"
    assert told.document["inputs"] == {"x": "float32[3]"}
    assert set(told.document["needs"]) <= {"free", "malloc", "memcpy", "memset"}


def test_compile_that_needs_a_length_says_which_and_how(whorl, saved, tmp_path):
    text = model("main (float[batch, 1, 5] x, float[1, 1, 3] w) => (float[batch, 1, 3] y) { y = Conv(x, w) }")
    told = whorl("compile", saved(text), "-o", tmp_path / "conv.o")
    assert told.code == 6
    assert told.err.endswith("\n  fix: fix lengths: --dim batch=N\n")


def test_show_native_tells_how_each_node_runs_and_why(whorl, saved):
    told = whorl("show", saved(MIXED), "--native", "--input", "steps=3")
    assert (told.code, told.err) == (0, "")
    assert (
        told.out
        == """\
input   x: float32[4, 4]
input   steps: int64[]
input   names: string[2]

native      Neg 'a' to Abs 'c' (3 nodes)
native      Loop 'roll' (4 nodes)
  calls back for Det 'det': no native form for their types and shapes
interpreted Unique 'once': Unique has no native form
interpreted Loop 'text' (3 nodes): carried value 's' is string
    interpreted Identity 'on': it ran too seldom to be worth compiling
    interpreted Identity 't': 's' is string[2]
"""
    )


def test_show_native_as_json(whorl, saved):
    verdicts = whorl("show", saved(MIXED), "--native", "--input", "steps=3", "--json").document["nodes"]
    assert [(v["title"], v["how"]) for v in verdicts if "Loop" in v["title"]] == [
        ("Loop 'roll'", "native"),
        ("Loop 'text'", "interpreted"),
    ]
    assert next(v["calls"] for v in verdicts if v["title"] == "Loop 'roll'") == ["Det 'det'"]


def test_bench_compares_and_measures(whorl, saved):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path = saved(SUM)
    given = ("--dim", "n=3", "--input", "steps=50", "--rounds", "1")
    found = whorl("bench", path, *given, "--json").document
    assert found["inputs"] == {"x": "float32[3]", "steps": "int64[]"}
    assert found["results"]["onnxruntime"]["status"] == "equal"
    assert found["engines"]["whorl"]["ratio"] == 1
    assert all(told["run"] > 0 and told["load"] > 0 for told in found["engines"].values())
    assert "second_first_run" in found["engines"]["whorl"]
    assert found["loops"]["Loop 'add'"]["iterations"] == 50


def test_bench_reports_an_engine_that_differs_and_does_not_measure_it(whorl, saved):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    stops = model("""
        main (float x) => (float y) {
            five = Constant<value = int64 {5}> ()
            [add] y = Loop (five, "", x) <body = step (int64 i, bool go, float h) => (bool on, float h_out) {
                two = Constant<value = int64 {2}> ()
                on = Less(i, two)
                h_out = Add(h, x)
            }>
        }""")
    told = whorl("bench", saved(stops), "--rounds", "1")
    assert told.code == 1
    assert "results of onnxruntime: different y: " in told.out
    assert "\nonnxruntime  " not in told.out
    assert "\n  Loop 'add': 5 iterations, " in told.out


def test_bench_refuses_an_engine_it_does_not_know(whorl, saved):
    told = whorl("bench", saved(SUM), "--against", "abacus")
    assert told.code == 2 and "there is no engine 'abacus'" in told.err


def test_cache_is_shown_and_cleared(whorl, tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path / "code"))
    cache.write("a", b"code")
    size = 32 + len(b"code")
    assert whorl("cache").out == f"{tmp_path}/code: 1 entries, {size} bytes\n"
    assert whorl("cache", "--clear").out == f"removed 1 entries\n{tmp_path}/code: 0 entries, 0 bytes\n"
    monkeypatch.setenv("WHORL_CACHE", "")
    assert whorl("cache", "--json").document == {"folder": "", "entries": 0, "bytes": 0, "removed": 0}
