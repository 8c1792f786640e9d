"""How rows lie in runs of a model."""

import numpy as np
import onnx
import pytest
from scoring.models import HALVES, PERCEPTRON, numbers, table

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.api.session import InferenceSession
from whorl.errors import RunError
from whorl.scoring.candidates import candidates
from whorl.scoring.layouts import Layout
from whorl.scoring.mapping import map_columns


def layouts(model, schema, **shared):
    module = load_module(model)
    feeding = map_columns(module, schema, None, shared or None)
    return {each.kind: each for each in candidates(module, feeding, tuple(module.visible_outputs), SessionOptions())}


def test_layouts_give_a_row_the_same_results():
    x = numbers(5)
    y, z = InferenceSession(PERCEPTRON).run(None, {"x": x})
    actual = {kind: layout.run({"x": x}, 5, None) for kind, layout in layouts(PERCEPTRON, table(1).schema).items()}
    assert list(actual) == ["axis", "vmap", "rows"]
    for one, other in actual.values():
        np.testing.assert_allclose(one, y, rtol=1e-6)
        np.testing.assert_allclose(other, z, rtol=1e-6)


def test_model_without_an_axis_is_mapped():
    schema = table(1).append_column("count", [[1]]).schema
    feeds = {"x": np.array([1, 2, 3], np.float32), "count": np.array([0, 1, 2])}
    chosen = layouts(HALVES, schema.remove(0).append(schema.field("id").with_name("x")))
    assert list(chosen) == ["vmap", "rows"]
    for layout in chosen.values():
        assert layout.run(feeds, 3, None)[0].tolist() == [1, 1.5, 1.5]


def test_value_for_all_rows_is_shared():
    schema = table(1).schema
    layout = layouts(HALVES, schema.remove(0).append(schema.field("id").with_name("x")), count=1)["vmap"]
    assert layout.run({"x": np.array([1, 2], np.float32)}, 2, None)[0].tolist() == [1, 1.5]


def test_axis_of_a_fixed_length_is_filled_up():
    chosen = layouts(fixed(3), table(1).schema)
    assert list(chosen) == ["axis"] and chosen["axis"].length == 3
    x = numbers(2)
    np.testing.assert_array_equal(chosen["axis"].run({"x": x}, 2, None)[0], np.maximum(x, 0))


def test_axis_of_length_one_goes():
    chosen = layouts(fixed(1), table(1).schema)
    assert list(chosen) == ["vmap", "rows"]
    x = numbers(2)
    for layout in chosen.values():
        np.testing.assert_array_equal(layout.run({"x": x}, 2, None)[0], np.maximum(x, 0))


def test_output_of_another_length_is_refused():
    module = load_module(PERCEPTRON)
    feeding = map_columns(module, table(1).schema, None, None)
    layout = Layout("axis", Shorter(), feeding, ("y",))
    with pytest.raises(RunError) as error:
        layout.run({"x": numbers(2)}, 2, None)
    assert str(error.value) == (
        "output 'y' has 1 rows for 2\n  fix: choose other outputs, or score rows one by one (batch 1)"
    )


class Shorter:
    """A session that loses a row."""

    def run(self, names, feeds, options):
        return [feeds["x"][1:]]


def fixed(rows):
    return onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["" : 21]>
positive (float[{rows}, 4] x) => (float[{rows}, 4] y) {{ y = Relu (x) }}
""")
