"""`whorl run`: every form of input, the .npz it writes and reads again, stored test data, and the progress bar."""

import io
import sys
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_text import ROLLOUT, model

from whorl.cli import main
from whorl.formats.onnx.dtypes import TO_ONNX
from whorl.formats.onnx.tensors import proto_of
from whorl.ir.dtypes import BY_NAME

F32 = np.float32
ADD = model("main (float[n] x, float[n] y) => (float[n] sum) { sum = Add(x, y) }")
TABLE = ("--input", f"table={[0.5] * 12}")


def passing(type):
    """A model that returns its input."""
    values = [helper.make_value_info(name, type) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "pass", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)


def tensor_type(name, shape=None):
    return helper.make_tensor_type_proto(TO_ONNX[BY_NAME[name]], shape)


# ---- inputs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[1, 2.5]", "y: float32[2] 1.0 2.5"),
        ("(1, 2.5)", "y: float32[2] 1.0 2.5"),
        ("[]", "y: float32[0]"),
        ("[NaN, Infinity, -Infinity]", "y: float32[3] nan inf -inf"),
        (str([*range(9)]), "y: float32[9] 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 ..."),
    ],
)
def test_values_are_written_as_in_python_or_json(whorl, saved, text, line):
    report = whorl("run", saved(passing(tensor_type("float32", ["n"]))), "--input", f"x={text}")
    assert (report.code, report.out) == (0, f"{line}\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain text", "y: string[] 'plain text'"),
        ("'quoted'", "y: string[] 'quoted'"),
        ("5", "y: string[] '5'"),
        ('["a", "b=c"]', "y: string[2] 'a' 'b=c'"),
    ],
)
def test_text_needs_no_quotes(whorl, saved, text, line):
    report = whorl("run", saved(passing(tensor_type("string"))), "--input", f"x={text}")
    assert (report.code, report.out) == (0, f"{line}\n")


def test_booleans_and_optionals_are_values_too(whorl, saved):
    report = whorl("run", saved(passing(tensor_type("bool", ["n"]))), "--input", "x=[true, false]")
    assert report.out == "y: bool[2] True False\n"
    optional = saved(passing(helper.make_optional_type_proto(tensor_type("int64", []))))
    assert whorl("run", optional, "--input", "x=null").out == "y: None\n"
    assert whorl("run", optional, "--input", "x=3").out == "y: int64[] 3\n"


def test_files_of_arrays(whorl, saved, tmp_path):
    path = saved(ADD)
    np.save(tmp_path / "x.npy", np.array([1, 2], F32))
    np.savez(tmp_path / "both.npz", x=np.array([1, 2], F32), y=np.array([10, 20], F32))
    (tmp_path / "y.pb").write_bytes(numpy_helper.from_array(np.array([10, 20], F32)).SerializeToString())
    x, y, both = tmp_path / "x.npy", tmp_path / "y.pb", tmp_path / "both.npz"
    expected = "sum: float32[2] 11.0 22.0\n"
    assert whorl("run", path, "--input", f"x={x}", "--input", f"y={y}").out == expected
    assert whorl("run", path, "--input", both).out == expected
    assert whorl("run", path, "--input", f"y={both}", "--input", f"x={both}").out == expected
    assert whorl("run", path, "--input", both, "--input", "y=[1, 1]").out == "sum: float32[2] 2.0 3.0\n"


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("x", "--input 'x' has no '='\n  fix: write NAME=VALUE, or name a .npz file"),
        ("z=1", "the model has no input 'z'\n  fix: choose from x, y"),
        ("x=nonsense", "'nonsense' is neither a file nor a value\n  fix: write a number, a list, or a .npy file"),
        (
            "x={tmp}/none.npy",
            "cannot read '{tmp}/none.npy' as .npy: [Errno 2] No such file or directory: '{tmp}/none.npy'",
        ),
        ("x={tmp}/none.pb", "cannot read '{tmp}/none.pb': No such file or directory"),
        ("x={tmp}/other.npz", "'{tmp}/other.npz' holds no float32[n] 'x'\n  fix: it holds w"),
        ("{tmp}/bad.npz", "cannot read '{tmp}/bad.npz' as .npz: "),
        ("x={tmp}/objects.npy", "cannot read '{tmp}/objects.npy' as .npy: "),
    ],
)
def test_inputs_that_cannot_be_read_end_with_2(whorl, saved, tmp_path, entry, text):
    np.savez(tmp_path / "other.npz", w=np.zeros(1))
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    report = whorl("run", saved(ADD), "--input", entry.replace("{tmp}", str(tmp_path)))
    assert report.code == 2 and report.err.startswith(f"whorl: {text.replace('{tmp}', str(tmp_path))}")


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        (["x=[1, 2]"], "missing inputs: 'y' (float32[n])\n  fix: feed every input that has no default"),
        (["x=1", "y=1"], "input 'x' has shape [], expected float32[n]\n  fix: reshape the array"),
        (["x=['a']", "y=[1]"], "input 'x' is string[1], expected float32[n]"),
    ],
)
def test_inputs_that_do_not_fit_end_with_4(whorl, saved, entries, text):
    report = whorl("run", saved(ADD), *(part for entry in entries for part in ("--input", entry)))
    assert report.code == 4 and report.err.startswith(f"whorl: {text}")


@pytest.mark.parametrize("option", ["--steps 0", "--dt 0.1", "--record a", "--initial a=1", "--seed 0", "--plot p.png"])
def test_option_of_a_simulation_is_refused_for_other_models(whorl, saved, tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    report = whorl("run", saved(ADD), "--random", 0, *option.split())
    flag = option.split()[0]
    text = f"whorl: {flag} applies to MDF models, which are simulated over time\n  fix: leave out {flag}\n"
    assert (report.code, report.out, report.err) == (2, "", text)
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--random 0 --rtol 1", "--rtol applies to stored outputs, and none are compared\n  fix: leave out --rtol"),
        ("--random 0 --atol 0", "--atol applies to stored outputs, and none are compared\n  fix: leave out --atol"),
        (
            "--input x=[1] --input y=[1] --dim n=1",
            "--dim gives lengths of random inputs, and none are drawn\n  fix: add --random SEED",
        ),
    ],
)
def test_option_that_would_be_ignored_is_refused(whorl, saved, options, text):
    report = whorl("run", saved(ADD), *options.split())
    assert (report.code, report.out, report.err) == (2, "", f"whorl: {text}\n")


def test_random_inputs_repeat_and_take_the_sizes_passed(whorl, saved):
    path = saved(ADD)
    first = whorl("run", path, "--random", "7", "--dim", "n=3")
    assert first.code == 0 and first.out.startswith("sum: float32[3] ")
    assert whorl("run", path, "--random", "7", "--dim", "n=3").out == first.out
    assert whorl("run", path, "--random", "8", "--dim", "n=3").out != first.out
    assert (
        whorl("run", path, "--random", "7", "--input", "x=[0, 0]", "--input", "y=[1, 1]").out
        == "sum: float32[2] 1.0 1.0\n"
    )
    assert whorl("run", path, "--random", "7", "--dim", "n").err == "whorl: --dim 'n' is not NAME=SIZE\n"


# ---- outputs -----------------------------------------------------------------------------------------------------

SAMPLES = {
    "bool": np.array([True, False]),
    "int64": np.array([1, -(1 << 62)]),
    "uint64": np.array([(1 << 64) - 1], np.uint64),
    "float16": np.array([1.5, np.inf], np.float16),
    "float64": np.array([[0.1, np.nan]]),
    "complex64": np.array([1 + 2j], np.complex64),
    "string": np.array(["a", "", "çß"], object),
    "bfloat16": np.array([1.5, -2], ml_dtypes.bfloat16),
    "float8e4m3fn": np.array([0.5], ml_dtypes.float8_e4m3fn),
    "int4": np.array([-8, 7], ml_dtypes.int4),
    "uint2": np.array([3, 0], ml_dtypes.uint2),
    "float4e2m1": np.array([6, -0.5], ml_dtypes.float4_e2m1fn),
}


def write_and_read(whorl, path, tmp_path, *arguments):
    """Run a model that returns its input, then again on what the first run wrote; both printed outputs."""
    out, again = tmp_path / "out.npz", tmp_path / "again.npz"
    first = whorl("run", path, *arguments, "--output", out, "--json")
    assert (first.code, first.err) == (0, "")
    with np.load(out) as file:
        np.savez(tmp_path / "in.npz", **{"x" + key[1:]: array for key, array in file.items()})
    second = whorl("run", path, "--input", tmp_path / "in.npz", "--output", again, "--json")
    assert (second.code, second.err) == (0, "")
    return first.document["outputs"]["y"], second.document["outputs"]["y"]


@pytest.mark.parametrize("dtype", SAMPLES)
def test_arrays_of_every_type_are_written_and_read_again(whorl, saved, tmp_path, dtype):
    sample = SAMPLES[dtype]
    proto = passing(tensor_type(dtype, sample.shape))
    (tmp_path / "x.pb").write_bytes(proto_of(sample).SerializeToString())
    first, second = write_and_read(whorl, saved(proto), tmp_path, "--input", f"x={tmp_path}/x.pb")
    assert first == second and first["type"] == f"{dtype}{list(sample.shape)}"


@pytest.mark.parametrize("items", ["[[1, 2], [3]]", "[]", "[[]]"])
def test_sequences_are_written_and_read_again(whorl, saved, tmp_path, items):
    path = saved(passing(helper.make_sequence_type_proto(tensor_type("int64", ["n"]))))
    first, second = write_and_read(whorl, path, tmp_path, "--input", f"x={items}")
    assert first == second and str([item["value"] for item in first]) == items


@pytest.mark.parametrize("value", ["null", "3", "[1, 2]"])
def test_optionals_are_written_and_read_again(whorl, saved, tmp_path, value):
    path = saved(passing(helper.make_optional_type_proto(tensor_type("int64"))))
    first, second = write_and_read(whorl, path, tmp_path, "--input", f"x={value}")
    assert first == second and (first or {"value": None})["value"] == (None if value == "null" else eval(value))


def test_maps_are_written_and_read_again(whorl, saved, tmp_path):
    path = saved(passing(helper.make_map_type_proto(TensorProto.STRING, tensor_type("float32", []))))
    first, second = write_and_read(whorl, path, tmp_path, "--input", "x={'a': 1.5, 'b': -2}")
    assert first == second == {"map": [["a", 1.5], ["b", -2.0]]}


def test_output_may_be_called_as_numpy_calls_its_own_parameters(whorl, saved, tmp_path):
    path = saved(model("main (float x) => (float file, float allow_pickle) { file = Neg(x) allow_pickle = Exp(file) }"))
    assert whorl("run", path, "--input", "x=0", "--output", tmp_path / "out.npz").code == 0
    with np.load(tmp_path / "out.npz") as file:
        assert file["file"] == 0 and file["allow_pickle"] == 1


def test_text_that_numpy_cannot_store_is_refused(whorl, saved, tmp_path):
    path = saved(passing(tensor_type("string")))
    report = whorl("run", path, "--input", "x='a\\0'", "--output", tmp_path / "out.npz")
    text = "NumPy's strings cannot hold a text that ends in a zero character\n  fix: use --json"
    assert (report.code, report.err) == (6, f"whorl: {text}\n")


def test_json_has_what_json_lacks_as_text(whorl, saved):
    report = whorl("run", saved(passing(tensor_type("complex64", ["n"]))), "--input", "x=[1+2j, inf]", "--json")
    assert report.code == 2
    report = whorl("run", saved(passing(tensor_type("complex64", ["n"]))), "--input", "x=[1+2j, 3e0]", "--json")
    assert report.document == {"outputs": {"y": {"type": "complex64[2]", "value": [[1.0, 2.0], [3.0, 0.0]]}}}
    report = whorl("run", saved(passing(tensor_type("float32", ["n"]))), "--input", "x=[NaN, -Infinity, 1]", "--json")
    assert report.document == {"outputs": {"y": {"type": "float32[3]", "value": ["nan", "-inf", 1.0]}}}


# ---- stored test data --------------------------------------------------------------------------------------------


def store(folder, inputs, outputs):
    folder.mkdir(parents=True)
    for kind, values in (("input", inputs), ("output", outputs)):
        for k, value in enumerate(values):
            array = numpy_helper.from_array(np.asarray(value, F32))
            (folder / f"{kind}_{k}.pb").write_bytes(array.SerializeToString())
    return folder


def test_stored_cases_beside_the_model_are_compared(whorl, saved, tmp_path):
    path = saved(ADD)
    store(tmp_path / "test_data_set_0", [[1, 2], [3, 4]], [[4, 6]])
    store(tmp_path / "test_data_set_1", [[1], [1]], [[3]])
    report = whorl("run", path)
    assert report.code == 1
    assert report.out == (
        "test_data_set_0: sum: equal\ntest_data_set_1: sum: 1 of 1 elements differ, first at [0]: 2.0 instead of 3.0\n"
    )
    assert whorl("run", path, "--atol", "1").code == 0
    report = whorl("run", path, "--test-data", tmp_path / "test_data_set_0", "--json")
    assert (report.code, report.document) == (0, {"test_data": {"test_data_set_0": {"sum": ""}}})


def test_folder_without_stored_outputs_ends_with_2(whorl, saved, tmp_path):
    report = whorl("run", saved(ADD), "--test-data", tmp_path)
    assert (report.code, report.err) == (
        2,
        f"whorl: '{tmp_path}' holds no output_0.pb\n  fix: name a test_data_set_0 folder\n",
    )


def test_stored_sequences_and_optionals_are_compared(whorl, saved, tmp_path):
    items = [np.zeros(2, F32), np.ones(3, F32)]
    for kind, make, value in (
        ("sequence", helper.make_sequence_type_proto, numpy_helper.from_list(items)),
        ("optional", helper.make_optional_type_proto, numpy_helper.from_optional(items[0])),
        ("none", helper.make_optional_type_proto, numpy_helper.from_optional(None, dtype=onnx.OptionalProto.TENSOR)),
    ):
        path = saved(passing(make(tensor_type("float32", ["n"]))), f"{kind}/model.onnx")
        folder = tmp_path / kind / "test_data_set_0"
        folder.mkdir()
        for name in ("input_0.pb", "output_0.pb"):
            (folder / name).write_bytes(value.SerializeToString())
        report = whorl("run", path)
        assert (report.code, report.out) == (0, "test_data_set_0: y: equal\n")


# ---- options of the run ------------------------------------------------------------------------------------------


def test_omitted_condition_follows_the_option(whorl, saved):
    path = saved(
        model("""
        main (float x) => (float y) {
            three = Constant<value = int64 {3}> ()
            y = Loop (three, "", x) <body = step (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Constant<value = bool {0}> ()
                b = Add(a, a)
            }>
        }""")
    )
    assert whorl("run", path, "--input", "x=1").out == "y: float32[] 8.0\n"
    assert whorl("run", path, "--input", "x=1", "--condition-when-omitted", "honour").out == "y: float32[] 2.0\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_bar_is_drawn_on_a_terminal_only(saved, monkeypatch, terminal):
    bars = []

    class Bar:
        n = 0

        def __init__(self, **options):
            bars.append(options)

        def update(self, count):
            self.n += count

        def close(self):
            bars.append(self.n)

    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=Bar))
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal else io.StringIO())
    path = str(saved(ROLLOUT))
    assert main(["run", path, "--input", "count=5", *TABLE]) == 0
    expected = {"total": 5, "desc": "Loop 'rollout'", "unit": "it", "delay": 1.0, "leave": False}
    assert bars == ([expected, 5] if terminal else [])
    bars.clear()
    assert main(["run", path, "--input", "count=5", *TABLE, "--json"]) == 0
    assert bars == []
