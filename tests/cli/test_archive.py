"""The .npz form of values: what is written is read back under its name and type."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from whorl.cli.archive import flat, names_in, read, value_of, write
from whorl.cli.arguments import UsageError
from whorl.errors import WhorlError
from whorl.ir.dtypes import BY_NAME, STRING
from whorl.ir.types import MapType, OptionalType, SequenceType, TensorType, Type

F32 = BY_NAME["float32"]
PAIR, SCALAR = TensorType(F32, (2,)), TensorType(F32, ())
X = np.array([1, 2], np.float32)


def again(values: dict[str, Any], types: dict[str, Type], folder: Path) -> dict[str, Any]:
    """Values through a file."""
    write(folder / "a.npz", values)
    return names_in(read(folder / "a.npz"), types)


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ([], SequenceType(PAIR)),
        ([X, X + 1], SequenceType(PAIR)),
        ([[X], []], SequenceType(SequenceType(PAIR))),
        (None, OptionalType(PAIR)),
        ([None, X], SequenceType(OptionalType(PAIR))),
        ({1: 0.5, -2: 1.0}, MapType(BY_NAME["int64"], SCALAR)),
        ({"a": 0.5}, MapType(STRING, SCALAR)),
    ],
    ids=str,
)
def test_value_of_any_type_is_read_back(value: Any, type: Type, tmp_path: Path) -> None:
    (result,) = again({"x": value}, {"x": type}, tmp_path).values()
    np.testing.assert_equal(result, value)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.int4, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn])
def test_types_that_numpy_lacks_are_turned_back(dtype: type, tmp_path: Path) -> None:
    array = np.array([1, -2]).astype(dtype)
    result = again({"x": array}, {"x": TensorType(array.dtype, (2,))}, tmp_path)["x"]
    assert result.dtype == array.dtype
    assert result.tolist() == array.tolist()


def test_names_of_tensors_may_hold_slashes(tmp_path: Path) -> None:
    values = {"a": X, "a/b": X + 1, "a/0": X + 2, "file": X + 3, "a/length": np.array(7, np.float32)}
    types = {name: TensorType(F32, value.shape) for name, value in values.items()}
    result = again(values, types, tmp_path)
    assert {name: value.tolist() for name, value in result.items()} == {k: v.tolist() for k, v in values.items()}


def test_sequence_below_the_name_of_another_is_its_own(tmp_path: Path) -> None:
    types = {"s": SequenceType(PAIR), "s/t": SequenceType(PAIR)}
    result = again({"s": [X], "s/t": [X + 1, X + 2]}, types, tmp_path)
    assert [len(result[name]) for name in types] == [1, 2]


def test_keys_that_nothing_is_called_keep_their_names() -> None:
    assert names_in({"x/y": X, "z": X}, {"x": PAIR}).keys() == {"x/y", "z"}


def test_missing_item_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        value_of({"x/length": np.array(2), "x/0": X}, "x", SequenceType(PAIR))


def test_text_is_of_a_fixed_width(tmp_path: Path) -> None:
    array = np.array(["a", "näh", ""], object)
    write(tmp_path / "a.npz", {"x": array})
    assert read(tmp_path / "a.npz")["x"].tolist() == ["a", "näh", ""]


def test_text_that_numpy_cuts_is_refused() -> None:
    with pytest.raises(WhorlError) as caught:
        flat("x", np.array(["a\0"], object))
    assert str(caught.value) == "NumPy's strings cannot hold a text that ends in a zero character\n  fix: use --json"


def test_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(UsageError, match=r"cannot read '.*a\.npz' as \.npz: "):
        read(path)
    with pytest.raises(WhorlError) as caught:
        write(tmp_path / "no" / "a.npz", {})
    assert str(caught.value) == f"cannot write {str(tmp_path / 'no' / 'a.npz')!r}: No such file or directory"
