"""Compiling ahead of time: libraries give what sessions give; what cannot be compiled is refused with the reason."""

import ctypes
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from compilers import needs_linker
from onnx_text import model

import whorl
from whorl.codegen.library import linker
from whorl.codegen.library.ports import ELEMENT_TYPES
from whorl.conformance.cases import load_cases
from whorl.conformance.messages import Answer
from whorl.conformance.runner import verdict
from whorl.ir.dtypes import name_of
from whorl.ir.graph import Module
from whorl.ir.types import AnyShape, TensorType

CHECKOUT = Path(__file__).parents[2]
NEST = """
    main (float[b, 3] x, float[12] table, int64 n) => (float[b, 3] y, float last) {
        zero = Constant<value = float {0}> ()
        [outer] y, last = Loop (n, "", x, zero) <
            body = step (int64 i, bool go, float[b, 3] h, float e) => (bool on, float[b, 3] h_out, float e_out) {
                on = Identity(go)
                weights = Constant<value = float[3] {0.5, -1, 2}> ()
                scaled = Mul(h, weights)
                h_out = Tanh(scaled)
                three = Constant<value = int64 {3}> ()
                [inner] e_out = Loop (three, "", e) <
                    body = look (int64 j, bool go2, float f) => (bool on2, float f_out) {
                        on2 = Identity(go2)
                        k = Mul(i, j)
                        [read] f_out = Gather(table, k)
                    }>
            }>
    }"""
FEEDS = {
    "x": np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3),
    "table": np.arange(12, dtype=np.float32),
    "n": np.array(4),
}


@pytest.fixture
def nest(tmp_path):
    whorl.compile(model(NEST), tmp_path / "nest.so", dims={"b": 2})
    return whorl.load_compiled(tmp_path / "nest.so")


@needs_linker
def test_library_gives_what_a_session_gives(nest):
    expected = whorl.InferenceSession(model(NEST)).run(None, FEEDS)
    for e, f in zip(expected, nest.run(None, FEEDS), strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-6)
    (last,) = nest.run(["last"], FEEDS)
    assert last == expected[1]


@needs_linker
def test_library_says_what_it_takes_and_gives(nest):
    assert [(a.name, a.shape, a.type) for a in nest.get_inputs()] == [
        ("x", [2, 3], "tensor(float)"),
        ("table", [12], "tensor(float)"),
        ("n", [], "tensor(int64)"),
    ]
    assert [(a.name, a.shape) for a in nest.get_outputs()] == [("y", [2, 3]), ("last", [])]


@needs_linker
def test_failure_names_node_and_iterations_as_a_session_does(nest):
    feeds = FEEDS | {"n": np.array(20)}
    with pytest.raises(whorl.RunError) as caught:
        nest.run(None, feeds)
    with pytest.raises(whorl.RunError) as expected:
        whorl.InferenceSession(model(NEST)).run(None, feeds)
    assert caught.value.where == expected.value.where
    assert caught.value.where.endswith("body of Loop 'inner' (iteration 2) in body of Loop 'outer' (iteration 6)")
    assert nest.run(None, FEEDS)[1] == 6


@needs_linker
def test_feeds_are_checked(nest):
    for wrong, message in (
        ({"x": FEEDS["x"][:1]}, r"input 'x' has shape \[1, 3\], expected float32\[2, 3\]"),
        ({"x": FEEDS["x"].astype(np.float64)}, "input 'x' is float64"),
        ({"z": FEEDS["x"]}, "the library has no input 'z'"),
    ):
        with pytest.raises(whorl.RunError, match=message):
            nest.run(None, FEEDS | wrong)
    with pytest.raises(whorl.RunError, match=r"missing inputs: 'table' \(float32\[12\]\), 'n' \(int64\[\]\)"):
        nest.run(None, {"x": FEEDS["x"]})


@needs_linker
def test_library_compiled_again_under_its_name_is_loaded_anew(nest, tmp_path):
    whorl.compile(model(NEST), tmp_path / "nest.so", dims={"b": 3})
    again = whorl.load_compiled(tmp_path / "nest.so")
    assert [a.shape for a in again.get_inputs()] == [[3, 3], [12], []]
    assert nest.run(None, FEEDS)[0].shape == (2, 3)


@needs_linker
def test_threads_share_a_library(nest):
    results = {}

    def work(k):
        results[k] = nest.run(None, FEEDS | {"x": np.full((2, 3), k, np.float32)})[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session = whorl.InferenceSession(model(NEST))
    for k, y in results.items():
        expected = session.run(None, FEEDS | {"x": np.full((2, 3), k, np.float32)})[0]
        np.testing.assert_allclose(y, expected, rtol=1e-6)


@needs_linker
def test_inputs_with_values_become_part_of_the_program(tmp_path):
    collects = model("""
        main (float[3] x, int64 n, float step) => (float[3] y, float[n, 3] seen) <float step = {2}> {
            y, seen = Loop (n, "", x) <body = add (int64 i, bool go, float[3] h) => (bool on, float[3] a, float[3] b) {
                on = Identity(go)
                a = Add(h, step)
                b = Identity(a)
            }>
        }""")
    whorl.compile(collects, tmp_path / "sums.so", inputs={"n": 5})
    library = whorl.load_compiled(tmp_path / "sums.so")
    assert [a.name for a in library.get_inputs()] == ["x"]
    y, seen = library.run(None, {"x": np.zeros(3, np.float32)})
    assert y.tolist() == [10, 10, 10]
    assert seen.shape == (5, 3) and seen[1].tolist() == [4, 4, 4]


@needs_linker
def test_lengths_that_no_one_fixed_are_passed_by_each_run(tmp_path):
    made = whorl.compile(model(NEST), tmp_path / "open.so", header=tmp_path / "open.h")
    assert (made.inputs[0].shape, made.inputs[0].dims) == ((-1, 3), ("b", ""))
    assert made.outputs[0].dims == ("b", "")
    header = (tmp_path / "open.h").read_text()
    assert "#define OPEN_LENGTHS 1\n/* length 0: b */" in header
    assert "/* x: float32, float [b][3] */" in header
    library, session = whorl.load_compiled(tmp_path / "open.so"), whorl.InferenceSession(model(NEST))
    for b in (2, 1, 0, 33):
        feeds = FEEDS | {"x": np.linspace(-1, 1, 3 * b, dtype=np.float32).reshape(b, 3)}
        for e, f in zip(session.run(None, feeds), library.run(None, feeds), strict=True):
            np.testing.assert_allclose(f, e, rtol=1e-6)
            assert f.shape == e.shape


DISTANCES = """main (float[n, 2] x, float[m, 2] points) => (float[m, n] distances) {
    last, distances = Scan <num_scan_inputs = 1, body = b (float[k, 2] rows, float[2] point)
      => (float[k, 2] rows_out, float[k] row) {
        rows_out = Identity(rows)
        offset = Sub(rows, point)
        axes = Constant <value = int64[1] {1}> ()
        row = ReduceSumSquare <keepdims = 0> (offset, axes)
    }> (x, points)
}"""
LISTS = """main (float[n, m] x, int64 p) => (float[a, b] stacked, float[?, m] part, int64 count) {
    rows = Shape <start = 0, end = 1> (x)
    steps = Squeeze (rows)
    none = SequenceEmpty ()
    v = Loop (steps, "", none) <body = b (int64 i, bool go, seq(float[]) t) => (bool on, seq(float[]) u) {
        on = Identity(go)
        row = Gather(x, i)
        twice = Add(row, row)
        u = SequenceInsert(t, twice)
    }>
    stacked = ConcatFromSequence <axis = 1, new_axis = 1> (v)
    two = Constant <value = int64 {2}> ()
    parts = SplitToSequence (x, two)
    part = SequenceAt (parts, p)
    count = SequenceLength (parts)
}"""


@needs_linker
@pytest.mark.parametrize("lengths", [(1, 1), (2, 5), (7, 3), (40, 2)])
def test_loop_collects_elements_of_lengths_that_a_run_passes(tmp_path, lengths):
    whorl.compile(model(DISTANCES), tmp_path / "m.so")
    rng = np.random.default_rng(0)
    x, points = (rng.normal(size=(n, 2)).astype(np.float32) for n in lengths)
    (distances,) = whorl.load_compiled(tmp_path / "m.so").run(None, {"x": x, "points": points})
    assert distances.shape == lengths[::-1]
    np.testing.assert_allclose(distances, ((x - points[:, None]) ** 2).sum(2), rtol=1e-5)


@needs_linker
def test_sequences_take_lengths_that_a_run_passes(tmp_path):
    whorl.compile(model(LISTS), tmp_path / "m.so")
    library, session = whorl.load_compiled(tmp_path / "m.so"), whorl.InferenceSession(model(LISTS))
    for n, m, p in ((1, 1, 0), (5, 3, -1), (5, 3, 0), (40, 4, 19)):
        feeds = {"x": np.arange(n * m, dtype=np.float32).reshape(n, m), "p": np.array(p)}
        for e, f in zip(session.run(None, feeds), library.run(None, feeds), strict=True):
            np.testing.assert_array_equal(f, e)
            assert f.shape == e.shape
    for n, p in ((5, 3), (0, 0)):
        with pytest.raises(whorl.RunError):
            library.run(None, {"x": np.zeros((n, 2), np.float32), "p": np.array(p)})


@needs_linker
def test_sequence_as_a_result_is_refused(tmp_path):
    text = "main (float[n] x) => (float[n] y, seq(float[n]) s) { y = Neg(x) s = SequenceConstruct(y, x) }"
    with pytest.raises(whorl.CompileError) as caught:
        whorl.compile(model(text), tmp_path / "m.so")
    assert str(caught.value) == "output 's' is a sequence\n  fix: join it to a tensor"


@needs_linker
def test_wrong_arguments_of_a_run_are_refused(tmp_path):
    whorl.compile(model(NEST), tmp_path / "raw.so")
    raw = ctypes.CDLL(str(tmp_path / "raw.so"))
    x, table, n, last = (np.zeros(12, t) for t in (np.float32, np.float32, np.int64, np.float32))
    y = (ctypes.c_int64 * 9)()
    inputs = (ctypes.c_void_p * 3)(x.ctypes.data, table.ctypes.data, n.ctypes.data)
    outputs = (ctypes.c_void_p * 2)(ctypes.addressof(y), last.ctypes.data)
    lengths, negative = (ctypes.c_int64 * 1)(4), (ctypes.c_int64 * 1)(-4)
    no_table, no_position = (ctypes.c_void_p * 3)(x.ctypes.data), (ctypes.c_void_p * 2)(None, last.ctypes.data)
    for passed in (
        (None, outputs, lengths),
        (inputs, None, lengths),
        (inputs, outputs, None),
        (inputs, outputs, negative),
        (no_table, outputs, lengths),
        (inputs, no_position, lengths),
    ):
        assert raw.raw_run(*passed, None, None) == -1
    raw.raw_message.restype = ctypes.c_char_p
    assert raw.raw_message(-1) == b"an argument is a null pointer or a negative length"
    assert raw.raw_message(-77) == b"no such status"
    assert raw.raw_run(inputs, outputs, lengths, None, None) == 0
    assert list(y[1:3]) == [4, 3]


@needs_linker
def test_inputs_agree_on_the_lengths_they_name(tmp_path):
    text = model("main (float[n] x, float[n, 2] y) => (float[n, 2] z) { a = Unsqueeze(x, one)\n z = Mul(a, y) }")
    text.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1]), "one"))
    whorl.compile(text, tmp_path / "two.so")
    library = whorl.load_compiled(tmp_path / "two.so")
    (z,) = library.run(None, {"x": np.array([1, 2], np.float32), "y": np.ones((2, 2), np.float32)})
    assert z.tolist() == [[1, 1], [2, 2]]
    with pytest.raises(whorl.RunError, match="'n' is 2 in input 'x' and 3 in 'y'"):
        library.run(None, {"x": np.zeros(2, np.float32), "y": np.ones((3, 2), np.float32)})


def test_model_that_needs_fixed_lengths_says_which(tmp_path):
    text = model("""main (float[batch, 3, 4] x) => (float[batch, 3, 3] y, int64[batch, 3, 3] i) {
        y, i = MaxPool <kernel_shape = [2]> (x)
    }""")
    with pytest.raises(whorl.CompileError) as caught:
        whorl.compile(text, tmp_path / "pool.o")
    assert str(caught.value) == (
        "the model cannot be compiled ahead of time: MaxPool 'y' would run in Python, having no native form "
        "for these types and shapes\n  fix: fix lengths: --dim batch=N"
    )
    whorl.compile(text, tmp_path / "pool.o", dims={"batch": 2})
    with pytest.raises(whorl.CompileError, match="no input has a dim 'c'"):
        whorl.compile(text, tmp_path / "pool.o", dims={"batch": 1, "c": 1})


@needs_linker
@pytest.mark.parametrize("batch", [1, 2, 7])
def test_convolution_takes_any_batch(tmp_path, batch):
    text = model("main (float[batch, 2, 5, 6] x, float[4, 2, 3, 3] w) => (float[batch, 4, 3, 4] y) { y = Conv(x, w) }")
    rng = np.random.default_rng(batch)
    feeds = {"x": rng.normal(size=(batch, 2, 5, 6)).astype("f"), "w": rng.normal(size=(4, 2, 3, 3)).astype("f")}
    whorl.compile(text, tmp_path / "conv.so")
    library = whorl.load_compiled(tmp_path / "conv.so")
    expected = whorl.run(text, feeds)["y"]
    np.testing.assert_allclose(library.run(None, feeds)[0], expected, rtol=1e-5, atol=1e-5)


@needs_linker
def test_outputs_whose_lengths_only_a_run_knows(tmp_path):
    text = model("""
        main (float[3] x, int64 n) => (float[a, 3] seen, float[m] grown, int64[1, k] places, float[3] y) {
            start = Constant<value = float[0] {}> ()
            y, grown, seen = Loop (n, "", x, start) <
                body = step (int64 i, bool go, float[3] h, float[l] g) =>
                    (bool on, float[3] h2, float[l2] g2, float[3] row) {
                    on = Identity(go)
                    h2 = Add(h, x)
                    g2 = Concat<axis = 0>(g, h)
                    row = Neg(h)
                }>
            places = NonZero(x)
        }""")
    made = whorl.compile(text, tmp_path / "open.so", header=tmp_path / "open.h")
    assert [port.shape for port in made.outputs] == [(-1, 3), (-1,), (1, -1), (3,)]
    header = (tmp_path / "open.h").read_text()
    assert "#define OPEN_OUTPUT_0_BYTES -1 /* seen: float32, whorl_array of float [][3] */" in header
    library, session = whorl.load_compiled(tmp_path / "open.so"), whorl.InferenceSession(text)
    for n, x in ((5, [1, 0, -2]), (0, [0, 0, 0]), (1000, [0, 2, 3])):
        feeds = {"x": np.array(x, np.float32), "n": np.array(n)}
        for e, f in zip(session.run(None, feeds), library.run(None, feeds), strict=True):
            np.testing.assert_array_equal(f, e)
            assert f.shape == e.shape and f.dtype == e.dtype
    assert [a.shape for a in library.get_outputs()] == [[None, 3], [None], [1, None], [3]]


@needs_linker
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is counted as Linux does")
@pytest.mark.parametrize("fails", [False, True])
def test_memory_that_grew_is_passed_back(tmp_path, fails):
    text = model("""
        main (float[100000] x, int64 n) => (float last) {
            start = Constant<value = float[0] {}> ()
            grown = Loop (n, "", start) <body = step (int64 i, bool go, float[l] g) => (bool on, float[l2] g2) {
                on = Identity(go)
                g2 = Concat<axis = 0>(g, x)
            }>
            place = Constant<value = int64 {250000}> ()
            last = Gather(grown, place)
        }""")
    whorl.compile(text, tmp_path / "grows.so")
    library = whorl.load_compiled(tmp_path / "grows.so")
    feeds = {"x": np.ones(100000, np.float32), "n": np.array(2 if fails else 3)}

    def stored() -> int:
        for _ in range(20):
            if fails:
                with pytest.raises(whorl.RunError, match="is refused"):
                    library.run(None, feeds)
            else:
                assert library.run(None, feeds)[0] == 1
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    before = stored()
    assert stored() - before < 8_000_000


def test_nodes_that_need_python_are_listed(tmp_path):
    text = """
        main (float[600, 600] x) => (float d, float e) {
            [first] d = Det(x)
            y = Add(x, x)
            [second] e = Det(y)
        }"""
    with pytest.raises(whorl.CompileError) as caught:
        whorl.compile(model(text), tmp_path / "d.o")
    assert "Det 'first', Det 'second' would run in Python, having no native form" in str(caught.value)
    assert not (tmp_path / "d.o").exists()


def test_values_that_are_no_tensors_are_refused(tmp_path):
    with pytest.raises(whorl.CompileError, match=r"cannot be compiled ahead of time: .*'a' is string"):
        whorl.compile(model("main (string[2] a) => (string[2] b) { b = Identity(a) }"), tmp_path / "s.o")


@pytest.mark.parametrize(
    ("target", "magic"),
    [
        ("aarch64-linux-gnu", b"\x7fELF\x02\x01\x01"),
        ("x86_64-linux-gnu", b"\x7fELF\x02\x01\x01"),
        ("arm64-apple-macos", b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"),
        ("x86_64-windows-msvc", b"\x64\x86"),
        ("aarch64-windows-msvc", b"\x64\xaa"),
    ],
)
def test_objects_for_other_machines(tmp_path, target, magic):
    made = whorl.compile(model(NEST), tmp_path / "nest.o", dims={"b": 2}, target=target)
    code = (tmp_path / "nest.o").read_bytes()
    assert code.startswith(magic)
    assert len(code) == made.code_bytes
    assert b"nest_run" in code


@pytest.mark.parametrize("target", ["x86_64-windows-msvc", "x86_64-windows-gnu"])
def test_objects_for_windows_need_nothing_of_a_compiler(tmp_path, target):
    proto = model("main (float[1, 16, 20, 20] x) => (float[1, 64, 18, 18] y) { y = Conv(x, w) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((64, 16, 3, 3), np.float32), "w"))
    whorl.compile(proto, tmp_path / "conv.o", target=target)
    assert b"chkstk" not in (tmp_path / "conv.o").read_bytes()


@pytest.mark.parametrize("target", [None, "aarch64-linux-gnu", "arm64-apple-macos", "x86_64-windows-msvc"])
def test_weights_lie_in_the_object(tmp_path, target):
    table = np.random.default_rng(0).standard_normal((64, 32)).astype(ml_dtypes.bfloat16)
    text = "main (int64[3] rows) => (bfloat16[3, 32] y) { y = Gather(table, rows) }"
    proto = model(text)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(table, "table"))
    whorl.compile(proto, tmp_path / "table.o", target=target)
    assert table.tobytes() in (tmp_path / "table.o").read_bytes()


def test_element_types_have_the_numbers_of_onnx():
    ours = {number: name_of(dtype) for dtype, number in ELEMENT_TYPES.items()}
    theirs = {n: name.lower() for name, n in onnx.TensorProto.DataType.items() if name not in ("UNDEFINED", "STRING")}
    assert ours == theirs | {1: "float32", 11: "float64"}


@needs_linker
def test_elements_narrower_than_a_byte(tmp_path):
    text = model("main (float[5] x) => (int4[5] q, float8e4m3fn[5] f) { q = Cast<to = 22>(x)\n f = Cast<to = 17>(x) }")
    whorl.compile(text, tmp_path / "narrow.so", header=tmp_path / "narrow.h")
    x = np.array([-3, 1.5, 0, 7, 2.25], np.float32)
    q, f = whorl.load_compiled(tmp_path / "narrow.so").run(None, {"x": x})
    assert q.tolist() == [-3, 1, 0, 7, 2] and q.dtype == ml_dtypes.int4
    assert f.astype(float).tolist() == [-3, 1.5, 0, 7, 2.25]
    assert "#define NARROW_OUTPUT_0_BYTES 5 /* q: int4, int8_t [5] */" in (tmp_path / "narrow.h").read_text()


@needs_linker
def test_large_weights_are_used(tmp_path):
    weights = np.random.default_rng(0).standard_normal((64, 48)).astype(np.float32)
    proto = model("main (float[2, 64] x) => (float[2, 48] y) { y = MatMul(x, w) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    whorl.compile(proto, tmp_path / "product.so")
    x = np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)
    (y,) = whorl.load_compiled(tmp_path / "product.so").run(None, {"x": x})
    np.testing.assert_allclose(y, x @ weights, rtol=1e-4, atol=1e-5)


@needs_linker
@pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux is known to refuse so much")
def test_memory_that_is_refused_is_an_error(tmp_path):
    text = model("""
        main (float[1] x) => (float s) {
            n = Constant<value = int64[1] {4398046511104}> ()
            zero = Constant<value = int64 {0}> ()
            many = Expand(x, n)
            sums = CumSum(many, zero)
            most = ReduceMax<keepdims = 0>(sums)
            least = ReduceMin<keepdims = 0>(sums)
            s = Add(most, least)
        }""")
    made = whorl.compile(text, tmp_path / "huge.so")
    assert made.workspace_bytes > 1 << 44
    with pytest.raises(whorl.MemoryLimitError, match="memory was refused"):
        whorl.load_compiled(tmp_path / "huge.so").run(None, {"x": np.ones(1, np.float32)})


def test_library_for_another_machine_is_refused(tmp_path):
    with pytest.raises(whorl.CompileError, match="only object files are written for other machines"):
        whorl.compile(model(NEST), tmp_path / "nest.so", target="aarch64-linux-gnu")
    with pytest.raises(whorl.CompileError, match="there is no target 'abacus'"):
        whorl.compile(model(NEST), tmp_path / "nest.o", dims={"b": 2}, target="abacus")


def test_files_that_cannot_be_written_are_named_and_leave_no_library(tmp_path):
    library, header = tmp_path / "nest.so", tmp_path / "none" / "nest.h"
    with pytest.raises(whorl.SaveError) as caught:
        whorl.compile(model(NEST), library, header, dims={"b": 2})
    assert str(caught.value) == f"cannot write {str(header)!r}: No such file or directory"
    with pytest.raises(whorl.SaveError) as caught:
        whorl.compile(model(NEST), tmp_path / "none" / "nest.so", dims={"b": 2})
    assert str(caught.value) == f"cannot write {str(tmp_path / 'none' / 'nest.so')!r}: No such file or directory"
    library.mkdir()
    with pytest.raises(whorl.SaveError) as caught:
        whorl.compile(model(NEST), library, tmp_path / "nest.h", dims={"b": 2})
    assert str(caught.value) == f"cannot write {str(library)!r}: Is a directory"
    assert [path.name for path in tmp_path.iterdir()] == ["nest.so"]


@pytest.mark.skipif(not shutil.which("nm"), reason="there is no nm to list symbols")
def test_object_needs_nothing_but_what_is_reported(tmp_path):
    made = whorl.compile(model(NEST), tmp_path / "nest.o", dims={"b": 2})
    listed = subprocess.run(["nm", "-u", tmp_path / "nest.o"], capture_output=True, text=True, check=True).stdout
    assert {line.split()[-1] for line in listed.splitlines()} <= set(made.needs) <= {"free", "malloc"}


def test_absent_linker_is_reported(tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(linker.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(whorl.CompileError, match="there is no linker") as caught:
        linker.linker()
    assert "pip install 'whorl[aot]'" in caught.value.fix


def test_linker_of_a_package_is_used_where_the_system_has_none(tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(linker.importlib.util, "find_spec", lambda name: object())
    assert linker.linker() == [sys.executable, "-m", "ziglang", "cc"]


def test_linker_that_fails_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", f"{sys.executable} -c 'import sys; sys.exit(\"no room\")'")
    with pytest.raises(whorl.CompileError, match="the linker failed with status 1: no room"):
        whorl.compile(model(NEST), tmp_path / "nest.so", dims={"b": 2})


def test_file_that_is_no_library_is_refused(tmp_path):
    (tmp_path / "text.so").write_text("text")
    with pytest.raises(whorl.LoadError, match="the library cannot be loaded"):
        whorl.load_compiled(tmp_path / "text.so")


LEFT_TO_THE_INTERPRETER = {"collected_used_after_the_loop", "program_sieve"}
"""Cases with lengths that native programs leave to the interpreter, which a library does not have."""


@needs_linker
@pytest.mark.slow
def test_cases_of_the_suite_pass_where_they_can_be_compiled(tmp_path):
    compiled = 0
    for case in load_cases()[::5]:
        if case.error or case.may_refuse or case.check or case.repeat > 1 or case.name in LEFT_TO_THE_INTERPRETER:
            continue
        module = whorl.load(case.data)
        sizes = lengths(module, case.inputs)
        if sizes is None:
            continue
        values = {name: value for name, value in case.inputs.items() if name in module.defaults}
        try:
            whorl.compile(module, tmp_path / "case.so", dims=sizes, inputs=values)
        except whorl.CompileError as error:
            reasons = "cannot be compiled ahead of time: ", "is a sequence"
            assert any(reason in str(error) for reason in reasons), case.name
            continue
        feeds = {name: value for name, value in case.inputs.items() if name not in values}
        outputs = whorl.load_compiled(tmp_path / "case.so").run(None, feeds)
        assert verdict(case, Answer("ran", runs=(outputs,))) == ("pass", ""), case.name
        compiled += 1
    assert compiled > 40


def lengths(module: Module, feeds: dict) -> dict[str, int] | None:
    """The lengths of named dims, where each name has one and every input is a tensor of known rank."""
    actual: dict[str, int] = {}
    for value in module.main.arguments:
        if not isinstance(value.type, TensorType) or isinstance(value.type.shape, AnyShape):
            return None
        if value.name in module.defaults:
            continue
        pairs = zip(value.type.shape, np.shape(feeds[value.name]), strict=True)
        for name, size in ((str(dim), size) for dim, size in pairs if not isinstance(dim, int)):
            if actual.setdefault(name, size) != size:
                return None
    return actual
