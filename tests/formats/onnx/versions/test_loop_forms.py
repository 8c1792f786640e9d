"""Loops that ONNX has no form for, written as loops it has: onnxruntime and whorl give the same.

A loop that runs no iteration included.
"""

import itertools
import tempfile

import numpy as np
import onnx
import pytest

import whorl
from whorl.errors import RunError, SaveError
from whorl.ir.infer import Inference, names_of
from whorl.ir.parse import parse_module
from whorl.runtime.session import Session

errors = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")

FORM = """
main(%x: float32[{whole}], %h: float32[{piece}], %n: int64[]) {{
  %y: float32[*], %joined: float32[*] = Loop({trip}, _, %h, %x)
  {{carried = 1, scanned = (Scanned(axis = {axis}, reverse = {back}, keep_axis = True, part = {part}),),
  collected = (Collected(axis = {out}, reverse = {turned}, stack = False, part = {rows}),), slices_suffice = {suffice}}}
  body(%i: int64[], %go: bool[], %s: float32[*], %p: float32[*]) {{
    %a: float32[*] = Add(%s, %p)
    return %go, %a, %a
  }}
  return y = %y, joined = %joined
}}
"""
LAST = """
main(%x: float32[N, 2], %n: int64[], %c: bool[]) {
  %last: float32[*], %number: int64[*] = Loop(%n, %c, %x) {last = 2}
  body(%i: int64[1], %go: bool[], %u: float32[*]) {
    %f: float32[1] = Cast(%i) {to = float32}
    %a: float32[*] = Add(%u, %f)
    %two: int64[1] = Constant() {value = int64[1] <2>}
    %enough: bool[1] = Less(%i, %two)
    return %enough, %a, %i
  }
  return last = %last, number = %number
}
"""
LENGTHS = """
main(%x: float32[N, 2], %y: float32[M, 2]) {
  %s: float32[*] = Loop(_, _, %x, %y) {scanned = (Scanned(keep_axis = True, part = 2),
  Scanned(keep_axis = True, part = 2, reverse = True)), collected = (Collected(stack = False, part = 2),)}
  body(%i: int64[], %go: bool[], %p: float32[*], %q: float32[*]) {
    %a: float32[*] = Sub(%p, %q)
    return %go, %a
  }
  return s = %s
}
"""


def form(axis, back, part, out, turned, trips, trip=None, suffice=False, fixed=True):
    piece = [2, 3, 2]
    piece[axis] = part
    whole = list(piece)
    whole[axis] *= trips
    names = whole if fixed else [f"d{k}" for k in range(3)]
    text = FORM.format(
        whole=", ".join(map(str, names)), piece=", ".join(map(str, piece)), axis=axis, back=back, part=part, out=out,
        turned=turned, rows=piece[out], trip="_" if trip is None else "%n", suffice=suffice,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    x, h = (rng.integers(0, 9, shape).astype(np.float32) for shape in (whole, piece))
    return text, {"x": x, "h": h, "n": np.array(trips if trip is None else trip)}


def converted(text, feeds, path, opset=None):
    """What onnxruntime gives for a program in text form."""
    module = parse_module(text)
    Inference(names_of(module.main.arguments)).region(module.main)
    whorl.save(module, path, opset=opset)
    onnx.checker.check_model(str(path), full_check=True)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    passed = {each.name for each in session.get_inputs()}
    return session.run(None, {name: x for name, x in feeds.items() if name in passed})


def same(text, feeds, path, opset=None):
    expected = Session(parse_module(text), backend="interpreter").execute(None, feeds)
    for e, f in zip(expected, converted(text, feeds, path, opset), strict=True):
        assert (f.dtype, f.shape) == (e.dtype, e.shape)
        np.testing.assert_array_equal(f, e)


FORMS = list(itertools.product(range(3), (False, True), (1, 2), range(3), (False, True), (0, 1, 2, 3)))


@pytest.mark.parametrize("case", FORMS[::5], ids=str)
def test_slices_and_concatenation(tmp_path, case):
    same(*form(*case), tmp_path / "m.onnx")


@pytest.mark.parametrize("case", FORMS[2::31], ids=str)
def test_open_lengths(tmp_path, case):
    same(*form(*case, fixed=False), tmp_path / "m.onnx")


@pytest.mark.parametrize("opset", [9, 11, 13, 18, 23])
def test_opsets(tmp_path, opset):
    same(*form(1, True, 2, 1, opset > 9, 3), tmp_path / "m.onnx", opset)


def test_opset_9_cannot_turn_elements(tmp_path):
    with pytest.raises(SaveError, match="opset 10 or later can turn them"):
        converted(*form(1, True, 2, 1, True, 3), tmp_path / "m.onnx", 9)


@pytest.mark.parametrize("back", [False, True])
def test_slices_that_run_out_fail(tmp_path, back):
    same(*form(0, back, 2, 0, False, 3, trip=2, suffice=True), tmp_path / "m.onnx")
    text, feeds = form(0, back, 2, 0, False, 3, trip=4, suffice=True)
    with pytest.raises(RunError, match="iteration 3 takes a slice"):
        Session(parse_module(text), backend="interpreter").execute(None, feeds)
    with pytest.raises(errors.InvalidArgument, match="out of data bounds"):
        converted(text, feeds, tmp_path / "m.onnx")


@pytest.mark.parametrize(("trips", "go"), [(1, True), (2, True), (9, True)])
def test_last_values(tmp_path, trips, go):
    feeds = {"x": np.ones((2, 2), np.float32), "n": np.array(trips), "c": np.array(go)}
    same(LAST, feeds, tmp_path / "m.onnx")


@pytest.mark.parametrize(("trips", "go"), [(0, True), (3, False)])
def test_no_iteration_has_no_last_value_there_either(tmp_path, trips, go):
    feeds = {"x": np.ones((2, 2), np.float32), "n": np.array(trips), "c": np.array(go)}
    with pytest.raises(errors.InvalidArgument, match="out of data bounds"):
        converted(LAST, feeds, tmp_path / "m.onnx")


def test_lengths_that_differ_or_leave_a_rest_fail_there_too(tmp_path):
    x, y = np.arange(8, dtype=np.float32).reshape(4, 2), np.ones((4, 2), np.float32)
    same(LENGTHS, {"x": x, "y": y}, tmp_path / "m.onnx")
    for a, b in ((x, y[:2]), (x[:2], y), (x[:3], y[:3])):
        with pytest.raises(errors.InvalidArgument, match="out of data bounds"):
            converted(LENGTHS, {"x": a, "y": b}, tmp_path / "m.onnx")


def test_concatenation_of_an_unknown_rank_is_refused(tmp_path):
    text = FORM.replace("float32[{whole}]", "float32[*]").replace("float32[{piece}]", "float32[*]")
    text = text.format(axis=0, back=False, part=1, out=0, turned=False, rows=1, trip="_", suffice=False)
    with pytest.raises(SaveError, match="whose rank is not known"):
        whorl.save(parse_module(text), tmp_path / "m.onnx")


def kinds(text):
    """The kinds of nodes that a program in text form is written with."""
    module = parse_module(text)
    Inference(names_of(module.main.arguments)).region(module.main)
    with tempfile.TemporaryDirectory() as folder:
        whorl.save(module, f"{folder}/m.onnx")
        return [node.op_type for node in onnx.load(f"{folder}/m.onnx").graph.node]


def test_single_rows_of_fixed_number_are_scanned():
    assert kinds(form(1, True, 1, 1, True, 3)[0]) == ["Scan"]
    assert "Loop" in kinds(form(0, False, 1, 2, False, 3)[0])
    assert "Loop" in kinds(form(1, True, 2, 1, True, 3)[0])
    assert "Loop" in kinds(form(1, True, 1, 1, True, 0)[0])
    assert "Loop" in kinds(form(1, True, 1, 1, True, 3, fixed=False)[0])
    assert "Loop" in kinds(form(1, True, 1, 1, True, 3, trip=2)[0])
