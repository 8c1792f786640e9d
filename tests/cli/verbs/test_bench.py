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
    passed = ("--dim", "n=3", "--input", "steps=50", "--rounds", "1")
    actual = whorl("bench", path, *passed, "--json").document
    assert actual["inputs"] == {"x": "float32[3]", "steps": "int64[]"}
    assert actual["results"]["onnxruntime"]["status"] == "equal"
    assert actual["engines"]["whorl"]["ratio"] == 1
    assert all(report["run"] > 0 and report["load"] > 0 for report in actual["engines"].values())
    assert "second_first_run" in actual["engines"]["whorl"]
    assert actual["loops"]["Loop 'add'"]["iterations"] == 50


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
    report = whorl("bench", saved(stops), "--rounds", "1")
    assert report.code == 1
    assert "results of onnxruntime: different y: " in report.out
    assert "\nonnxruntime  " not in report.out
    assert "\n  Loop 'add': 5 iterations, " in report.out


def test_bench_refuses_an_engine_it_does_not_know(whorl, saved):
    report = whorl("bench", saved(SUM), "--against", "abacus")
    assert report.code == 2 and "there is no engine 'abacus'" in report.err
