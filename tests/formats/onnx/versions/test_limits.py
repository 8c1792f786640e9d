"""What an older opset cannot say."""

import onnx
import pytest
from formats.onnx.nodes_text import refused_to_write, written

import whorl
from whorl.errors import SaveError


def parsed(opset, body):
    """A module in ONNX text with a float input x of length N."""
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    return whorl.load(onnx.parser.parse_model(f"{head} g (float[N] x, int64[K] s) => {body}"))


def test_an_axis_from_the_end_needs_a_rank_before_11(tmp_path):
    module = parsed(17, "(y) { r = Reshape(x, s) y = Flatten<axis = -1>(r) }")
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.onnx", opset=10)
    assert "axis -1 counts from the end of a tensor of unknown rank" in str(caught.value)
    whorl.save(module, tmp_path / "m.onnx", opset=11)


COMPRESS = 'main(%x: {0}, %c: bool[2]) {{ %y: {1} = Compress "c" (%x, %c) {{axis = -1}} return y = %y }}'


@pytest.mark.parametrize(("shape", "axis"), [("N, 3", 1), ("2, 3, 4", 2), ("k", 0)])
def test_axis_from_the_end_is_counted_from_the_front_before_11(shape, axis):
    type = f"float32[{shape}]"
    assert written(COMPRESS.format(type, type), 10) == [f"[c] y = Compress <axis: int = {axis}> (x, c)"]
    assert written(COMPRESS.format(type, type), 11) == ["[c] y = Compress <axis: int = -1> (x, c)"]


@pytest.mark.parametrize(
    ("text", "opset", "message"),
    [
        (
            'main(%x: int32[2, 3]) { %y: int32[2, 3] = Add "a" (%x, %x) return y = %y }',
            6,
            "",
        ),
        (
            'main(%x: int8[2, 3]) { %y: int8[2, 3] = Add "a" (%x, %x) return y = %y }',
            13,
            "Add 'a': input 0 is tensor(int8), which version 13 of Add does not take\n"
            "  fix: opset 14 or later can say it",
        ),
        (
            "main(%x: bfloat16[2]) { %c: bool[] = Constant() {value = bool[] <True>} "
            '%y: bfloat16[2] = If "i" (%c, %x) then_branch(%a: bfloat16[2]) { %b: bfloat16[2] = Identity(%a) '
            "return %b } else_branch(%a: bfloat16[2]) { return %a } return y = %y }",
            12,
            "If 'i': gives tensor(bfloat16), which version 11 of If does not give\n  fix: opset 16 or later can say it",
        ),
    ],
    ids=["taken", "operand", "result"],
)
def test_element_types_that_a_version_does_not_have_are_refused(text, opset, message):
    if not message:
        assert written(text, opset) == ["[a] y = Add (x, x)"]
        return
    assert refused_to_write(text, opset) == message
