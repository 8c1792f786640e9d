"""`whorl bench`: what it compares, measures and refuses."""

import pytest
from onnx_text import model

SUM = model("""
    main (float[n] x, int64 steps) => (float[n] y) {
        [add] y = Loop (steps, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] h_out) {
            on = Identity(go)
            half = Constant<value = float {0.5}> ()
            less = Mul(h, half)
            h_out = Add(less, x)
        }>
    }""")


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
