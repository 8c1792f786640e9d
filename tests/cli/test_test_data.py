"""Folders of test data."""

import numpy as np
import pytest

from whorl.api.extracting import Extracted
from whorl.cli.test_data import write_data
from whorl.errors import SaveError
from whorl.formats.onnx.values import value_of
from whorl.ir.graph import Module, Region
from whorl.ir.types import SequenceType, TensorType


def test_tensors_and_sequences_are_written(tmp_path):
    inputs = {"x": np.float32([1, 2]), "s": [np.array([1]), np.array([2, 3])]}
    write_data(tmp_path / "data", Extracted(Module(Region()), inputs, {"y": np.array(True)}))
    names = sorted(path.name for path in (tmp_path / "data").iterdir())
    assert names == ["input_0.pb", "input_1.pb", "output_0.pb"]
    type = SequenceType(TensorType(np.dtype(np.int64)))
    items = value_of((tmp_path / "data" / "input_1.pb").read_bytes(), type, "s")
    assert [item.tolist() for item in items] == [[1], [2, 3]]


def test_folder_that_cannot_be_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SaveError) as caught:
        write_data(tmp_path / "file", Extracted(Module(Region())))
    assert str(caught.value) == f"cannot write '{tmp_path / 'file'}': File exists"
