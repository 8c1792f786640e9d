"""`compile_regions`: loops and branches of a model as libraries of C functions."""

import numpy as np
import pytest
from onnx_text import model

import whorl

TEXT = """main (float[n] x, int64 count, bool odd, string[n] names) => (float[m] grown, float[n] y, string[n] text) {
    two = Constant<value = float[1] {2}> ()
    start = Constant<value = float[0] {}> ()
    scaled = Mul(x, two)
    [grow] grown = Loop (count, "", start) <body = step (int64 i, bool go, float[k] g) => (bool on, float[l] h) {
        on = Identity(go)
        h = Concat<axis = 0>(g, scaled)
    }>
    y = If (odd) <then_branch = t () => (float[n] a) { a = Neg(x) },
        else_branch = e () => (float[n] b) { b = Mul(x, two) }>
    [text] text = If (odd) <then_branch = t2 () => (string[n] c) { c = Identity(names) },
        else_branch = e2 () => (string[n] d) { d = Identity(names) }>
}"""


def test_regions_become_libraries_with_headers(tmp_path):
    proto = model(TEXT)
    grow, branch, text = whorl.compile_regions(proto, tmp_path / "regions")
    assert (grow.title, grow.reason) == ("Loop 'grow'", "")
    assert [port.name for port in grow.functions.inputs] == ["count", "scaled"]
    assert "region0_grow_run" in (tmp_path / "regions" / "region0_grow.h").read_text()
    assert branch.library == str(tmp_path / "regions" / "region1.so")
    assert text.library == "" and text.reason == "'names' has elements of type string, which libraries do not take"
    session = whorl.load_compiled(grow.library)
    x = np.arange(3, dtype=np.float32)
    assert session.run(None, {"count": np.array(2), "scaled": x})[0].tolist() == [0, 1, 2, 0, 1, 2]


def test_regions_for_another_machine_are_object_files(tmp_path):
    grow, *_ = whorl.compile_regions(model(TEXT), tmp_path, target="aarch64-linux-gnu")
    assert (tmp_path / "region0_grow.o").read_bytes()[18] == 183, "the machine of an ELF file"
    assert grow.library == str(tmp_path / "region0_grow.o")


def test_unknown_machine_is_refused(tmp_path):
    with pytest.raises(whorl.CompileError, match="there is no target 'pdp11'"):
        whorl.compile_regions(model(TEXT), tmp_path, target="pdp11")
