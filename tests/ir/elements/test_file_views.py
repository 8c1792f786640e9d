"""Arrays by where they lie in files."""

import os
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from whorl.errors import LoadError
from whorl.ir.dtypes import STRING
from whorl.ir.elements.file_views import FileArray, array_in_file, file_view_of
from whorl.ir.elements.mapping import map_file, mapped_file

F32 = np.dtype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(64, dtype=np.float32).tobytes())
    return path


@pytest.fixture
def whole(path: Path) -> np.ndarray:
    with path.open("rb") as file:
        return np.frombuffer(memoryview(map_file(file)), F32)


@pytest.mark.parametrize(
    "part",
    [
        lambda x: x,
        lambda x: x[5:9],
        lambda x: x.reshape(8, 8).T,
        lambda x: x.reshape(4, 16)[1:, ::3],
        lambda x: x[::-1],
        lambda x: np.broadcast_to(x[3:4], (5, 7, 1)),
        lambda x: x[2:3].reshape(()),
        lambda x: x.view(np.int16)[1:].reshape(-1),
    ],
)
def test_array_is_read_again_from_its_file(whole: np.ndarray, part) -> None:
    array = part(whole)
    view = file_view_of(array)
    assert view is not None
    again = array_in_file(view)
    assert (again.dtype, again.shape, again.strides) == (array.dtype, array.shape, array.strides)
    assert not again.flags.writeable
    np.testing.assert_array_equal(again, array)
    assert file_view_of(again) == view


def test_what_lies_in_no_file_that_others_may_map_has_no_view(path: Path, whole: np.ndarray) -> None:
    with path.open("rb") as file:
        own = np.frombuffer(mapped_file(file.fileno()), F32)
    assert file_view_of(own) is None
    assert file_view_of(np.zeros(3)) is None
    assert file_view_of(whole + 1) is None
    assert file_view_of(whole[:0]) is None


@pytest.mark.parametrize("change", ["time", "size", "file", "missing"])
def test_file_that_has_changed_is_refused(path: Path, whole: np.ndarray, change: str) -> None:
    view = file_view_of(whole)
    assert view is not None
    data = path.read_bytes()
    match change:
        case "time":
            os.utime(path, (1, 1))
        case "size":
            path.write_bytes(data + b"more")
        case "file":
            status = path.stat()
            path.rename(path.with_name("old"))
            path.write_bytes(data)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        case _:
            path.unlink()
    with pytest.raises((OSError, ValueError)):
        array_in_file(view)


@pytest.mark.parametrize(
    "wrong", [{"offset": -4}, {"offset": 8}, {"shape": (65,)}, {"strides": (8,)}, {"strides": (-4,)}, {"dtype": STRING}]
)
def test_view_outside_of_its_file_is_refused(whole: np.ndarray, wrong: dict[str, object]) -> None:
    view = file_view_of(whole)
    assert view is not None
    with pytest.raises(ValueError, match=r".+"):
        array_in_file(replace(view, **wrong))


def test_file_array_is_one_array_while_somebody_uses_it(path: Path) -> None:
    array = FileArray(path, 4, F32, (2, 3)).numpy()
    assert array.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert FileArray(path, 4, F32, (2, 3)).numpy() is array
    assert FileArray(path, 8, F32, (2, 3)).numpy() is not array
    assert FileArray(path, 4, F32, (2, 0)).numpy().shape == (2, 0)


def test_file_array_beyond_its_file_is_a_load_error(path: Path) -> None:
    with pytest.raises(LoadError, match=r"'numbers' cannot be read: its 256 bytes end before byte 260"):
        FileArray(path, 4, F32, (64,)).numpy()
