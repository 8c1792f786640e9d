"""Libraries of custom ops in whorl: kernels run in sessions, in loops, on strings, and fail with their texts."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import onnx
import pytest
from compilers import needs_linker
from onnx_text import model

import whorl

X = np.array([1, 2, 4], np.float32)
DOMAIN = ', "test.kernels": 1'
LOOP = """main (float[n] x, int64 k) => (float[n] y, float[k, n] rows) {
    y, rows = Loop (k, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] a, float[n] b) {
        on = Identity (go)
        s = test.kernels.Scale<by = 0.5> (h)
        a = Add (s, x)
        b = Mul (a, a)
    }>
}"""


def session(library, text, **options):
    settings = whorl.SessionOptions()
    settings.register_custom_ops_library(library)
    for name, value in options.items():
        setattr(settings, name, value)
    return whorl.InferenceSession(model(text, 21, DOMAIN), settings)


def run(library, text, **feeds):
    return session(library, text).run(None, feeds)


@pytest.mark.parametrize(("dtype", "name"), [(np.float32, "float"), (np.float64, "double")])
def test_kernel_of_the_element_type_runs(library, dtype, name):
    text = f"main ({name}[n] x) => ({name}[n] y) {{ y = test.kernels.Scale<by = 3.0> (x) }}"
    for x in (X, X[:1], X[:0]):
        (actual,) = run(library, text, x=x.astype(dtype))
        assert actual.dtype == dtype
        np.testing.assert_array_equal(actual, 3 * x)


def test_attribute_that_is_left_out_has_the_default_of_the_library(library):
    (actual,) = run(library, "main (float[n] x) => (float[n] y) { y = test.kernels.Scale (x) }", x=X)
    np.testing.assert_array_equal(actual, 2 * X)


def test_types_that_the_library_infers_are_known(library):
    made = session(library, "main (float[n, 3] x) => (float[a, b] y) { y = test.kernels.Scale (x) }")
    (node,) = made.module.nodes()
    assert str(node.outputs[0].type) == "float32[n, 3]"


def test_optional_input_and_length_that_the_kernel_says(library):
    text = "main (float[n] x, float f) => (float[m] y) { y = test.kernels.Spread<widths = [1, 2]> (x, f) }"
    assert run(library, text, x=X, f=np.array(7, np.float32))[0].tolist() == [1, 2, 4, 7, 7, 7]
    text = "main (float[n] x) => (float[m] y) { y = test.kernels.Spread<widths = [2]> (x) }"
    assert run(library, text, x=X[:0])[0].tolist() == [0, 0]


def test_strings_go_in_and_out(library):
    text = """main (string[n] x, string[k] w) => (string y, int64[m] lengths) {
        y, lengths = test.kernels.Join<separator = "-"> (x, w, x)
    }"""
    x, w = np.array(["a", "bé"], object), np.array(["", "c"], object)
    content, lengths = run(library, text, x=x, w=w)
    assert content.item() == "a-bé--c-a-bé"
    assert lengths.tolist() == [1, 3, 0, 1, 1, 3]


def test_kernels_run_in_native_loops(library):
    made = session(library, LOOP)
    for k, n in ((0, 3), (1, 1), (7, 3), (500, 20)):
        x = np.linspace(-1, 1, n, dtype=np.float32)
        y, rows = made.run(None, {"x": x, "k": np.array(k)})
        state, expected = x, []
        for _ in range(k):
            state = state * np.float32(0.5) + x
            expected.append(state * state)
        np.testing.assert_allclose(y, state, rtol=1e-6)
        np.testing.assert_allclose(rows, np.array(expected, np.float32).reshape(k, n), rtol=1e-6)
    assert [verdict.how for verdict in made.explain()] == ["native"]


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_kernel_is_called_as_often_as_its_nodes_run(library, backend):
    text = """main (float[n] x, int64 k) => (int64[k] steps) {
        steps = Loop (k, "") <body = step (int64 i, bool go) => (bool on, int64 b) {
            on = Identity (go)
            s = test.kernels.Count (x)
            t = test.kernels.Count (x)
            b = Sub (t, s)
        }>
    }"""
    made = session(library, text, backend=backend)
    for _ in range(2):
        assert made.run(None, {"x": X, "k": np.array(5)})[0].tolist() == [1] * 5


def test_threads_run_one_session_at_once(library):
    made = session(library, LOOP)
    feeds = [{"x": X + k, "k": np.array(20 + k)} for k in range(4)]
    expected = [made.run(None, each)[0] for each in feeds]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(20):
                np.testing.assert_array_equal(made.run(None, feeds[number])[0], expected[number])
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_kernel_of_an_old_library_runs(library):
    (actual,) = run(library, "main (float[n] x) => (float[n] y) { y = test.kernels.Negate (x) }", x=X)
    np.testing.assert_array_equal(actual, -X)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("Spread<widths = [-1]>", "ImpureCustomOp 'y': Spread: the widths are negative"),
        ("Spread", "ImpureCustomOp 'y': Spread: No attribute with name 'widths' is defined."),
        ("Foreign", "ImpureCustomOp 'y': Foreign: whorl has no function 213 of onnxruntime's C API"),
        ("Silent", "ImpureCustomOp 'y': test.kernels.Silent gave 0 of 1 outputs"),
    ],
)
def test_failure_has_the_text_of_the_library(library, node, message):
    with pytest.raises(whorl.RunError) as error:
        run(library, f"main (float[n] x) => (float[n] y) {{ y = test.kernels.{node} (x) }}", x=X)
    assert str(error.value) == message


def test_inputs_of_other_types_are_refused(library):
    with pytest.raises(whorl.LoadError) as error:
        session(library, "main (int64[n] x) => (int64[n] y) { y = test.kernels.Scale (x) }")
    assert str(error.value) == "ImpureCustomOp 'y': Scale takes (float32) or (float64), and the inputs are (int64)"


def test_op_for_another_provider_is_not_registered(library):
    with pytest.raises(whorl.UnsupportedError, match=r"domain 'test\.kernels' is unknown"):
        session(library, "main (float[n] x) => (float[n] y) { y = test.kernels.OnGpu (x) }")


def test_session_goes_to_another_process_with_its_library(library, registered):
    made = session(library, "main (float[n] x) => (float[n] y) { y = test.kernels.Scale (x) }")
    data = pickle.dumps(made)
    registered.clear()
    np.testing.assert_array_equal(pickle.loads(data).run(None, {"x": X})[0], 2 * X)


def test_library_that_releases_its_domain_as_the_process_ends_ends_it_well(library):
    program = f"import whorl; whorl.SessionOptions().register_custom_ops_library({str(library)!r}); print('registered')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "registered\n"), done.stderr


def test_what_is_no_library_is_refused(tmp_path, library):
    path = tmp_path / "text.so"
    path.write_text("text")
    options = whorl.SessionOptions()
    with pytest.raises(whorl.LoadError, match="cannot load "):
        options.register_custom_ops_library(path)
    with pytest.raises(whorl.LoadError, match="cannot load "):
        options.register_custom_ops_library(tmp_path / "missing.so")
    whorl.compile(model("main (float[n] x) => (float[n] y) { y = Neg (x) }"), tmp_path / "plain.so")
    with pytest.raises(whorl.LoadError) as error:
        options.register_custom_ops_library(tmp_path / "plain.so")
    assert str(error.value) == (
        f"{str(tmp_path / 'plain.so')!r} has no RegisterCustomOps\n  fix: name a library of onnxruntime's custom ops"
    )


@needs_linker
def test_loops_that_whorl_embeds_run_in_whorl(tmp_path):
    text = LOOP.replace("test.kernels.Scale<by = 0.5> (h)", "Mul (h, h)")
    made = whorl.embed(model(text), tmp_path / "embedded.onnx")
    options = whorl.SessionOptions()
    options.register_custom_ops_library(made.library)
    assert onnx.load(made.model).graph.node[0].domain == "ai.whorl"
    feeds = {"x": X / 10, "k": np.array(9)}
    expected = whorl.InferenceSession(model(text)).run(None, feeds)
    for e, actual in zip(expected, whorl.InferenceSession(made.model, options).run(None, feeds), strict=True):
        np.testing.assert_allclose(actual, e, rtol=1e-6)
