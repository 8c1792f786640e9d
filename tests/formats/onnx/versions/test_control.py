"""If and Loop in old opsets, and what they keep."""

import numpy as np
import onnx
import pytest
from formats.onnx.nodes_text import program, refused_to_write
from onnx_text import model, run

import whorl
from whorl.formats.onnx.saving import to_proto


def again(source: onnx.ModelProto) -> onnx.ModelProto:
    return to_proto(whorl.load(source))


def test_declared_lengths_of_a_scan_are_retained():
    source = model("""main (float[t, 2] x) => (int64[1, 3, t] ys) {
        ys = Scan <num_scan_inputs = 1, scan_output_axes = [-1], body = b (float[2] row) => (int64[1, 3] y)
            { y = NonZero(row) }> (x)
    }""")
    for proto in (source, again(source)):
        assert run(proto, x=np.zeros((0, 2), np.float32))[0].shape == (1, 3, 0)


def test_loop_without_any_named_output_is_retained():
    source = model("""main (int64 n, float x) => (float x) {
        "" = Loop (n, "", x) <body = b (int64 i, bool c, float h) => (bool d, float h) { d = Identity(c) }>
    }""")
    assert run(again(source), n=np.int64(2), x=np.float32(1)) == [1]


@pytest.mark.parametrize(("axes", "then"), [("{0}", "float32[3, 1]"), ("{2}", "float32[1, 3]")])
def test_branches_of_two_shapes_need_the_opset_that_allows_them(axes, then):
    module = whorl.load(model(f"""main (float[1, 3, 1] x, bool c) => (y) {{
        axes = Constant<value = int64[1] {axes}> ()
        both = Constant<value = int64[2] {{0, 2}}> ()
        [pick] y = If (c) <then_branch = t () => (a) {{ a = Squeeze (x, axes) }},
                           else_branch = e () => (b) {{ b = Squeeze (x, both) }}>
    }}""", opset=13))  # fmt: skip
    assert to_proto(module, opset=11).opset_import[0].version == 11
    with pytest.raises(whorl.SaveError) as caught:
        to_proto(module, opset=10)
    assert str(caught.value) == (
        f"If 'pick': output 0 is {then} in then_branch and float32[3] in else_branch, which If-1 does not allow\n"
        "  fix: opset 11 or later can say it"
    )


def test_branches_that_may_have_one_shape_are_written_in_old_opsets():
    module = whorl.load(model("""main (float[n] x, float[m] z, bool c) => (float[k] y) {
        y = If (c) <then_branch = t () => (a) { a = Neg (x) }, else_branch = e () => (b) { b = Neg (z) }>
    }""", opset=10))  # fmt: skip
    assert to_proto(module).opset_import[0].version == 10


def test_blank_outputs_are_written_with_names():
    """onnxruntime takes neither a Loop with a blank output nor one with fewer outputs than its body gives."""
    source = model("""main (int64 n, float x) => (float y) {
        y, "" = Loop (n, "", x) <body = b (int64 i, bool c, float h) => (bool d, float g, float e)
            { d = Identity(c) g = Add(h, h) e = Neg(h) }>
    }""")
    (loop,) = again(source).graph.node
    assert list(loop.output) == ["y", "unused"]


def collecting(how: str, type: str = "float32[2]", inputs: str = "%n, _", scanned: str = "") -> str:
    """A loop that collects the negative of x, or of slices of it."""
    fields = f"collected = (Collected({how}),){scanned}"
    result = "float32[*]"
    return f"""
        main(%x: {type}, %n: int64[]) {{
            %y: {result} = Loop "l" ({inputs}, %x) {{{fields}}}
            body(%i: int64[], %go: bool[], %h: {"float32[*]" if "*" in type else "float32[2]"}) {{
                %a: {"float32[*]" if "*" in type else "float32[2]"} = Neg(%h)
                return %go, %a
            }}
            return y = %y
        }}"""


def kinds(text: str, opset: int) -> list[str]:
    return [node.op_type for node in to_proto(program(text), opset).graph.node]


def test_loop_that_carries_nothing_needs_opset_11():
    assert refused_to_write(collecting(""), 10) == (
        "Loop 'l': carries nothing, which Loop-1 does not allow\n  fix: opset 11 or later can say it"
    )
    assert kinds(collecting(""), 11) == ["Loop"]


def test_collected_axis_and_direction_are_put_right_behind_the_loop():
    assert kinds(collecting("axis = 1"), 11) == ["Loop", "Transpose"]
    assert kinds(collecting("reverse = True"), 11) == ["Loop", "Slice"]
    assert kinds(collecting("axis = -1, reverse = True"), 11) == ["Loop", "Slice", "Transpose"]


SCAN = ", scanned = (Scanned(),)"


def test_loop_over_slices_alone_is_a_scan_from_9_on():
    text = collecting("", "float32[N, 2]", "_, _", SCAN)
    assert kinds(text, 9) == ["Scan"]
    (node,) = to_proto(program(text), 9).graph.node
    assert [attribute.name for attribute in node.attribute] == ["body", "num_scan_inputs"]


def test_loop_over_slices_with_a_number_too_remains_a_loop():
    text = collecting("", "float32[N, 2]", "%n, _", SCAN)
    assert kinds(text, 11) == ["Shape", "Gather", "Min", "Loop"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (collecting("axis = 1", "float32[*]"), "collects along axis 1 of %y: float32[*], whose rank is not known"),
        (
            collecting("", "float32[*]", "%n, _", ", scanned = (Scanned(axis = -1),)"),
            "scans axis -1 of %x: float32[*], whose rank is not known",
        ),
    ],
)
def test_axes_of_unknown_ranks_are_refused(text, message):
    assert refused_to_write(text, 11) == f"Loop 'l': {message}\n  fix: declare its shape"
