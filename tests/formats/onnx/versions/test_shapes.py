"""Shape ops in old opsets: lists as attributes, axes from the front, lengths of 0."""

import numpy as np
import pytest
from formats.onnx.nodes_text import refused_to_write, written
from single_node import feeds, single_node

import whorl
from whorl.errors import LoadError

X = np.arange(6, dtype=np.float32).reshape(2, 3)
PART = "main(%x: float32[N, 3]) {{ %y: int64[k] = Shape(%x) {{start = {0}, end = {1}}} return y = %y }}"


@pytest.mark.parametrize(
    ("opset", "nodes"),
    [
        (9, ["shape = Shape (x)", "y = Slice <starts: ints = [1], ends: ints = [9], axes: ints = [0]> (shape)"]),
        (14, ["shape = Shape (x)", "y = Slice (shape, end, end_1)"]),
        (15, ["y = Shape <start: int = 1, end: int = 9> (x)"]),
    ],
)
def test_part_of_a_shape_is_cut_out_before_15(opset, nodes):
    assert written(PART.format(1, 9), opset) == nodes


@pytest.mark.parametrize("opset", [11, 12, 13, 28])
@pytest.mark.parametrize("op", ["Squeeze", "Unsqueeze"])
def test_empty_list_of_axes_changes_nothing(op, opset):
    """Runtimes read it as no list, which squeezes everything."""
    text = f"""
        main(%x: float32[1, N]) {{
            %axes: int64[0] = Constant() {{value = int64[0] <>}}
            %y: float32[1, N] = {op}(%x, %axes)
            return y = %y
        }}"""
    nodes = written(text, opset)
    assert nodes == (["y = Unsqueeze (x, axes)"] if op == "Unsqueeze" and opset > 12 else ["y = Identity (x)"])


@pytest.mark.parametrize(("opset", "axis"), [(10, 2), (11, -1), (12, -1)])
def test_new_axes_count_in_the_result(opset, axis):
    text = """
        main(%x: float32[N, 3]) {
            %axes: int64[1] = Constant() {value = int64[1] <-1>}
            %y: float32[N, 3, 1] = Unsqueeze(%x, %axes)
            return y = %y
        }"""
    assert written(text, opset) == [f"y = Unsqueeze <axes: ints = [{axis}]> (x)"]


@pytest.mark.parametrize(("axis", "expected"), [(-1, 1), (-2, 0), (2, 2)])
def test_flattening_counts_from_the_front_before_11(axis, expected):
    text = f"main(%x: float32[2, 3]) {{ %y: float32[a, b] = Flatten(%x) {{axis = {axis}}} return y = %y }}"
    assert written(text, 10) == [f"y = Flatten <axis: int = {expected}> (x)"]
    assert written(text, 11) == [f"y = Flatten <axis: int = {axis}> (x)"]


RESHAPE = """
    main(%x: float32[{0}]) {{
        %shape: int64[2] = Constant() {{value = int64[2] <{1}>}}
        %y: float32[*] = Reshape "r" (%x, %shape) {{allowzero = 1}}
        return y = %y
    }}"""


@pytest.mark.parametrize(("shape", "lengths"), [("2, 3", "3 2"), ("2, 3", "-1 2"), ("N, 3", "3 -1")])
def test_allowed_zeros_without_any_are_written_everywhere(shape, lengths):
    assert written(RESHAPE.format(shape, lengths), 13) == ["[r] y = Reshape (x, shape)"]


def test_length_of_0_needs_the_opset_that_allows_it():
    assert refused_to_write(RESHAPE.format("0, 3", "3 0"), 13) == (
        "Reshape 'r': a length of 0 in the shape would copy one\n  fix: opset 14 or later can say it"
    )


def test_reshape_1_without_a_shape_gives_a_scalar():
    one = X[:1, 1:2]
    assert whorl.run(single_node("Reshape", [one], 1), feeds([one]))["y0"].tolist() == 1


@pytest.mark.parametrize(
    ("attributes", "message"),
    [({}, "lacks the attribute 'axes'"), ({"axes": [0, 0]}, "axes [0, 0] name an axis twice")],
)
def test_axes_that_are_missing_or_repeated_are_refused(attributes, message):
    with pytest.raises(LoadError) as caught:
        whorl.load(single_node("Unsqueeze", [X], 11, **attributes))
    assert str(caught.value).startswith(f"Unsqueeze 'y0': {message}")
