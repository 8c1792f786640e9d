"""Which layouts a model may have."""

import onnx
import pytest
from scoring.models import HALVES, PERCEPTRON, ROOTS, table

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.scoring.candidates import candidates
from whorl.scoring.mapping import map_columns

COLUMNS = table(1).append_column("k", [[0]]).append_column("count", [[1]]).append_column("number", [[1.0]]).schema


def of_length(rows):
    return onnx.parser.parse_model(f"""
<ir_version: 10, opset_import: ["" : 21]>
positive (float[{rows}, 4] x) => (float[{rows}, 4] y) {{ y = Relu (x) }}
""")


@pytest.mark.parametrize(
    ("model", "columns", "kinds"),
    [
        (PERCEPTRON, {}, ["axis", "vmap", "rows"]),
        (ROOTS, {}, ["axis", "vmap", "rows"]),
        (HALVES, {"x": "number"}, ["vmap", "rows"]),
        (of_length(3), {}, ["axis"]),
        (of_length(1), {}, ["vmap", "rows"]),
    ],
    ids=["named axis", "two inputs", "no axis", "fixed axis", "axis of one"],
)
def test_layouts_are_in_order_of_speed(model, columns, kinds):
    module = load_module(model)
    feeding = map_columns(module, COLUMNS, columns, None)
    actual = candidates(module, feeding, tuple(module.visible_outputs), SessionOptions())
    assert [layout.kind for layout in actual] == kinds
