"""Arrays of `.npz` files and of Zarr as columns."""

import numpy as np
import pyarrow as pa
import pytest

from whorl.errors import RunError
from whorl.scoring.arrays import open_arrays

ARRAYS = {"x": np.arange(60.0).reshape(10, 3, 2), "k": np.arange(10)}


def save(arrays, path):
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        group = pytest.importorskip("zarr").open_group(str(path), mode="w")
        for name, array in arrays.items():
            group.create_array(name, data=array, chunks=(4, *array.shape[1:]))
    return str(path)


@pytest.mark.parametrize("suffix", [".npz", ".zarr"])
def test_arrays_are_columns(suffix, tmp_path):
    source = open_arrays(save(ARRAYS, tmp_path / f"a{suffix}"))
    parts = source.cut(4)
    actual = pa.concat_tables([rows for part in parts for rows in source.read(part, ["x", "k"], 3)])
    assert len(parts) == 3 and actual["x"].to_pylist() == ARRAYS["x"].tolist()
    assert actual["k"].to_pylist() == list(range(10))


@pytest.mark.parametrize("suffix", [".npz", ".zarr"])
def test_fingerprint_changes_with_the_arrays(suffix, tmp_path):
    before = open_arrays(save(ARRAYS, tmp_path / f"a{suffix}")).fingerprint
    assert open_arrays(save(ARRAYS | {"k": np.ones(10)}, tmp_path / f"a{suffix}")).fingerprint != before


def test_parts_are_whole_chunks(tmp_path):
    source = open_arrays(save(ARRAYS, tmp_path / "a.zarr"))
    assert [part.rows for part in source.cut(5)] == [4, 4, 2]


def test_arrays_of_several_lengths_are_refused(tmp_path):
    path = save({"x": np.ones((2, 3)), "k": np.ones(4)}, tmp_path / "a.npz")
    with pytest.raises(RunError) as error:
        open_arrays(path)
    assert str(error.value) == (
        f"the arrays of '{path}' have several lengths: x [2, 3], k [4]\n  fix: give all the same first axis"
    )


@pytest.mark.parametrize("suffix", [".npz", ".zarr"])
def test_file_without_arrays_is_refused(suffix, tmp_path):
    with pytest.raises(RunError, match=f"^'{tmp_path}/a{suffix}' has no arrays$"):
        open_arrays(save({}, tmp_path / f"a{suffix}"))


def test_damaged_file_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(RunError, match=f"^cannot read '{path}': "):
        open_arrays(str(path))
