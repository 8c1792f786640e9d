"""Models and tables made ready: what is read, how much of it at once, and what is refused."""

import numpy as np
import onnx
import pyarrow as pa
import pytest
from scoring.models import PERCEPTRON, lists, numbers, table

from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.errors import RunError
from whorl.scoring.jobs import READ_BYTES, READ_ROWS
from whorl.scoring.preparing import (
    Settings,
    float_columns,
    needed_columns,
    prepare_scorer,
    read_model,
    rows_at_once,
)

TABLE = table(1000)


def prepare(**settings):
    return prepare_scorer(load_module(PERCEPTRON), TABLE.schema, TABLE, Settings(**settings), SessionOptions())


def test_large_rows_are_read_few_at_once():
    narrow, wide = prepare(batch=64), pa.table({"x": lists(np.zeros((20, 1 << 16), np.float32))})
    assert rows_at_once(narrow, TABLE) == READ_ROWS
    model = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    twice (float[n, t] x) => (float[n, t] y) { y = Add (x, x) }
    """)
    scorer = prepare_scorer(load_module(model), wide.schema, wide, Settings(batch=4), SessionOptions())
    assert 0 <= READ_BYTES // (8 << 16) - rows_at_once(scorer, wide) <= 1


def test_results_count_as_bytes_that_are_in_memory():
    model = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    many (float[n] x) => (float[n, t] y) {
      last = Constant <value = int64[1] {1}> ()
      column = Unsqueeze (x, last)
      wide = Constant <value = int64[2] {1, 65536}> ()
      y = Expand (column, wide)
    }
    """)
    rows = pa.table({"x": np.zeros(20, np.float32)})
    scorer = prepare_scorer(load_module(model), rows.schema, rows, Settings(batch=4), SessionOptions())
    assert rows_at_once(scorer, rows) <= READ_BYTES // (4 * 65536)


def test_needed_columns_are_inputs_and_columns_to_keep():
    module = load_module(PERCEPTRON)
    assert needed_columns(module, TABLE.schema, Settings(keep=["id"])) == ["x", "id"]
    assert needed_columns(module, TABLE.schema, Settings()) == ["x"]


def test_unknown_output_is_refused():
    with pytest.raises(RunError) as error:
        prepare(outputs=["q"])
    assert str(error.value) == "the model has no output 'q'\n  fix: choose from y, z"


def test_unknown_column_to_keep_is_refused():
    with pytest.raises(RunError) as error:
        prepare(keep=["q"])
    assert str(error.value) == "there is no column 'q' to keep\n  fix: choose from x, id"


def test_whole_numbers_that_feed_floats_may_be_floats():
    rows = pa.table({name: [1, 2] for name in "abcd"})
    settings = Settings(columns={"x": list("abcd")})
    scorer = prepare_scorer(load_module(PERCEPTRON), rows.schema, rows, settings, SessionOptions())
    assert float_columns(scorer, rows.schema) == dict.fromkeys("abcd", pa.float64())


def test_fingerprint_of_a_model_is_of_its_weights_too(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(PERCEPTRON, path)
    assert read_model(path, None)[1] == read_model(str(path), None)[1]
    other = onnx.ModelProto.FromString(PERCEPTRON.SerializeToString())
    weights = np.frombuffer(numbers(3).tobytes(), np.float32)
    other.graph.node[0].attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(weights.reshape(4, 3)))
    assert read_model(PERCEPTRON, None)[1] != read_model(other, None)[1]
