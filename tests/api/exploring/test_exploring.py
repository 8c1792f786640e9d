"""`explore`."""

import numpy as np
import pytest
from onnx_text import model
from traced_models import NESTED, X

import whorl
from whorl.api.exploring.exploring import has_bodies, title_of


def test_inputs_beside_a_trace_are_refused() -> None:
    inputs = {"n": np.array(2), "x": X}
    with pytest.raises(whorl.RunError) as caught:
        whorl.explore(NESTED, inputs, trace=whorl.trace(NESTED, inputs))
    expected = "inputs were passed beside a trace\n  fix: pass inputs for a new run, or the trace of an old one"
    assert str(caught.value) == expected


def test_saved_trace_makes_the_page_of_its_run(tmp_path) -> None:
    inputs = {"n": np.array(2), "x": X}
    whorl.save_trace(whorl.trace(NESTED, inputs), tmp_path / "t.npz")
    loaded = whorl.load_trace(tmp_path / "t.npz")
    assert whorl.explore(NESTED, trace=loaded).html == whorl.explore(NESTED, inputs).html


def test_values_choose_what_is_recorded() -> None:
    inputs = {"n": np.array(2), "x": X}
    assert len(whorl.explore(NESTED, inputs, values="outer/s").html) < len(whorl.explore(NESTED, inputs).html)


def test_model_without_loops_is_shown_without_a_run() -> None:
    module = whorl.load(model("main (float[3] x) => (float[3] y) { y = Neg(x) }"))
    assert not has_bodies(module)
    assert whorl.explore(module, {"x": X}).html == whorl.explore(module).html


def test_title_is_the_name_of_the_file_or_of_the_graph(tmp_path) -> None:
    module = whorl.load(NESTED)
    assert title_of(tmp_path / "net.onnx", module) == "net.onnx"
    assert title_of(module, module) == "main"
    assert whorl.explore(module, title="mine").title == "mine"


def test_page_of_three_hundred_nodes_over_a_thousand_iterations_is_below_two_megabytes() -> None:
    nodes = " ".join(f"t{k + 1} = {'Sin' if k % 2 else 'Add'} (t{k}{'' if k % 2 else ', noise'})" for k in range(300))
    graph = f"""main (float[1000, 4] rows, float[4] x) => (float[4] y) {{ [steps] y = Scan<num_scan_inputs = 1,
        body = b (float[4] t0, float[4] noise) => (float[4] t300) {{ {nodes} }}> (x, rows)
    }}"""
    noise = np.random.default_rng(0).normal(size=(1000, 4)).astype(np.float32)
    page = whorl.explore(model(graph), {"rows": noise, "x": np.zeros(4, np.float32)})
    assert 500_000 < len(page.html) < 2_000_000


def test_other_trace_without_a_run_is_refused() -> None:
    inputs = {"n": np.array(2), "x": X}
    trace = whorl.trace(NESTED, inputs)
    with pytest.raises(whorl.RunError) as caught:
        whorl.explore(NESTED, other=trace)
    assert str(caught.value) == "there is nothing to compare the other trace with\n  fix: pass inputs, or a trace"
    with pytest.raises(whorl.RunError) as caught:
        whorl.explore(NESTED, trace=trace, other=NESTED)
    assert str(caught.value) == "there are no inputs to run the other model on\n  fix: pass inputs, or two traces"


def test_other_model_is_run_on_the_same_inputs() -> None:
    inputs = {"n": np.array(2), "x": X}
    trace = whorl.trace(NESTED, inputs)
    assert whorl.explore(NESTED, inputs, other=NESTED).html == whorl.explore(NESTED, inputs, other=trace).html


def test_costs_without_inputs_are_refused() -> None:
    with pytest.raises(whorl.RunError) as caught:
        whorl.explore(NESTED, costs=True)
    assert str(caught.value) == "costs are those of a run\n  fix: pass inputs"


def test_notebook_shows_the_page_of_a_session_as_that_of_its_model() -> None:
    assert whorl.InferenceSession(NESTED)._repr_html_() == whorl.load(NESTED)._repr_html_()
