"""MDF models on the command line: run over time, shown, checked and converted."""

import json

import numpy as np
import pytest
from formats.mdf.exported import convolution_net
from mdf.models import LINKS, NETWORK, OSCILLATOR, data

import whorl as package


@pytest.fixture
def oscillator(tmp_path):
    path = tmp_path / "fn.json"
    path.write_text(json.dumps(data(OSCILLATOR)))
    return path


def test_run_prints_the_first_and_the_last_rows(whorl, oscillator):
    report = whorl("run", oscillator, "--steps", 100, "--dt", 0.1, "--record", "FN.V")
    rows = package.load(oscillator).simulate(100, 0.1)["FN.V"]
    texts = [*map(str, rows[:4]), "...", *map(str, rows[-4:])]
    assert (report.code, report.out) == (0, f"FN.V: float64[101] {' '.join(texts)}\n")


def test_run_writes_records_and_takes_initial_values(whorl, oscillator, tmp_path):
    passed = ["--input", "FN.V=2.0", "--input", "FN.I=0", "--output", tmp_path / "rows.npz"]
    assert whorl("run", oscillator, "--steps", 10, "--dt", 0.1, *passed).code == 0
    expected = package.load(oscillator).simulate(10, 0.1, initial={"FN.V": 2.0, "FN.I": 0})
    with np.load(tmp_path / "rows.npz") as rows:
        np.testing.assert_array_equal(rows["FN.W"], expected["FN.W"])
        np.testing.assert_array_equal(rows["time"], expected.times)


def test_run_takes_the_steps_of_an_integrator(whorl, oscillator, tmp_path):
    passed = ["--integrator", "rk4", "--output", tmp_path / "rows.npz"]
    assert whorl("run", oscillator, "--steps", 10, "--dt", 0.5, *passed).code == 0
    expected = package.load(oscillator, integrator="rk4").simulate(10, 0.5)
    with np.load(tmp_path / "rows.npz") as rows:
        np.testing.assert_array_equal(rows["FN.V"], expected["FN.V"])
    assert not np.array_equal(expected["FN.V"], package.load(oscillator).simulate(10, 0.5)["FN.V"])


@pytest.mark.parametrize(
    "option",
    [
        "--random 0",
        "--dim n=3",
        "--test-data .",
        "--rtol 1",
        "--atol 0",
        "--profile trace.json",
        "--phases",
        "--compat openvino-cpu",
    ],
)
def test_option_of_other_models_is_refused(whorl, oscillator, option):
    report = whorl("run", oscillator, *option.split())
    flag = option.split()[0]
    text = f"whorl: {flag} does not apply to an MDF model, which is simulated over time\n  fix: leave out {flag}\n"
    assert (report.code, report.out, report.err) == (2, "", text)


def test_initial_values_are_inputs(whorl, oscillator):
    both = (whorl("run", oscillator, "--steps", 3, "--dt", 0.1, name, "FN.V=2.0") for name in ("--initial", "--input"))
    assert len({report.out for report in both}) == 1


def test_run_draws_a_plot(whorl, oscillator, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    assert whorl("run", oscillator, "--steps", 50, "--dt", 0.1, "--plot", tmp_path / "fn.png").code == 0
    assert (tmp_path / "fn.png").read_bytes().startswith(b"\x89PNG")


def test_run_of_an_unknown_name_is_refused(whorl, oscillator):
    report = whorl("run", oscillator, "--record", "FN.U")
    assert report.code == 4 and "the model has no 'FN.U'" in report.err


def test_run_answers_json(whorl, oscillator):
    report = whorl("run", oscillator, "--steps", 2, "--dt", 0.5, "--record", "FN.V", "--json")
    assert report.document["times"]["value"] == [0, 0.5, 1.0]
    assert report.document["records"]["FN.V"]["type"] == "float64[3]"


def test_show_lists_nodes_edges_and_how_the_model_runs(whorl, tmp_path):
    (tmp_path / "net.json").write_text(json.dumps(data(NETWORK, LINKS)))
    report = whorl("show", tmp_path / "net.json")
    for line in (
        "  input     input",
        "  state     dx/dt = W @ numpy.tanh(x) - x + input, at first [0.1, 0.2]",
        "  parameter W = [[0.0, 1.5], [-1.0, 0.5]]",
        "edge    net.x -> sum.total times 2.0",
        "runs compiled",
    ):
        assert line in report.out.splitlines()
    assert whorl("show", tmp_path / "net.json", "--json").document["runs"] == "compiled"
    assert (
        "Loop 'time'" in whorl("show", tmp_path / "net.json", "--native", "--input", "steps=3", "--input", "dt=0.1").out
    )


def test_check_tells_what_is_left_to_chance_and_what_is_interpreted(whorl, oscillator, tmp_path):
    assert whorl("check", oscillator).out == "nothing to complain about\n"
    nodes = NETWORK | {"sum": {**NETWORK["sum"], "input_ports": {"total": {}}}}
    (tmp_path / "net.json").write_text(json.dumps(data(nodes, LINKS)))
    report = whorl("check", tmp_path / "net.json")
    assert report.code == 0 and report.out.startswith(
        "warning [left-to-chance] graph 'graph': 2 edges lead into input port"
    )


def test_convert_writes_onnx_and_yaml(whorl, oscillator, tmp_path):
    assert whorl("convert", oscillator, tmp_path / "fn.onnx").code == 0
    rows = package.run(tmp_path / "fn.onnx", {"steps": np.array(5), "dt": np.array(0.1)})
    np.testing.assert_array_equal(rows["FN.V"], package.load(oscillator).simulate(5, 0.1)["FN.V"])
    pytest.importorskip("yaml", reason="PyYAML is not installed")
    report = whorl("convert", oscillator, tmp_path / "fn.yaml")
    assert report.code == 0 and report.out.startswith(f"wrote {tmp_path / 'fn.yaml'}: 1 nodes")
    assert package.load(tmp_path / "fn.yaml").document.graphs == package.load(oscillator).document.graphs


def test_onnx_becomes_mdf(whorl, tmp_path):
    text = '<ir_version: 10, opset_import: ["" : 18]> g (float[2] x) => (float[2] z) { s = Add (x, x) z = Relu (s) }'
    (tmp_path / "g.onnxtxt").write_text(text)
    assert whorl("convert", tmp_path / "g.onnxtxt", tmp_path / "g.json").code == 0
    actual = package.load(tmp_path / "g.json").simulate(initial={"Add.x": [1.0, -2.0]})
    np.testing.assert_array_equal(actual["Relu.z"], [[2, 0]])


def test_run_within_its_limit_of_iterations_is_not_stopped(whorl, oscillator):
    passed = ["run", oscillator, "--steps", 50, "--dt", 0.1, "--record", "FN.V"]
    assert whorl(*passed, "--max-iterations", 50).out == whorl(*passed).out
    assert whorl(*passed, "--max-iterations", 49).code == 5


def test_convert_in_single_precision_gives_what_onnxruntime_loads(whorl, tmp_path):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    net = convolution_net()
    (tmp_path / "net.json").write_text(json.dumps(net.data()))
    assert whorl("convert", tmp_path / "net.json", tmp_path / "net.onnx", "--precision", "float32").code == 0
    session = ort.InferenceSession(str(tmp_path / "net.onnx"), providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].name == "steps"


def test_convert_with_a_precision_of_another_model_is_refused(whorl, tmp_path):
    (tmp_path / "g.onnxtxt").write_text(
        '<ir_version: 10, opset_import: ["" : 18]> g (float[2] x) => (y) { y = Neg (x) }'
    )
    report = whorl("convert", tmp_path / "g.onnxtxt", tmp_path / "g.onnx", "--precision", "float32")
    assert report.code == 2
    assert report.err == ("whorl: --precision applies to MDF, not to ONNX\n  fix: leave out --precision\n")
