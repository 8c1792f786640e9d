"""Constants by where they lie, as bytes."""

from pathlib import Path

import numpy as np
import pytest

from whorl.ir.elements.mapping import map_file
from whorl.lowering.block_convolution import FilterBlocks
from whorl.lowering.deferred import DeferredArray, origin_of
from whorl.lowering.products import InPanels
from whorl.ops.elementwise.arithmetic import Mul
from whorl.runtime.compiled.external_constants import read, write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "weights"
    path.write_bytes(np.arange(60, dtype=np.float32).tobytes())
    return path


@pytest.fixture
def array(file: Path) -> np.ndarray:
    with file.open("rb") as opened:
        return np.frombuffer(memoryview(map_file(opened)), np.float32).reshape(6, 10)


def test_constants_come_back_in_the_order_of_their_numbers(file: Path, array: np.ndarray) -> None:
    panels = DeferredArray.by(InPanels(4), [array], array.dtype, (3, 6, 4))
    filters = DeferredArray.by(FilterBlocks(1), [array[:4]], array.dtype, (1, 40))
    origins = {7: origin_of(array.T), 2: origin_of(panels), 4: None, 3: origin_of(filters)}
    external, data = write(origins, frozenset({str(file)}))
    assert external == {2, 3, 7}
    first, second, third = read(data, {})
    assert first.tobytes() == panels.numpy().tobytes()
    assert second.tobytes() == filters.numpy().tobytes()
    np.testing.assert_array_equal(third, array.T)


def test_programs_share_what_is_had_from_the_same(file: Path, array: np.ndarray) -> None:
    panels = DeferredArray.by(InPanels(4), [array], array.dtype, (3, 6, 4))
    wide = DeferredArray.by(InPanels(8), [array], array.dtype, (2, 6, 8))
    one, other = ({0: origin_of(panels)}, {0: origin_of(wide), 5: origin_of(panels)})
    shared: dict[object, np.ndarray] = {}
    (first,) = read(write(one, frozenset({str(file)}))[1], shared)
    second, third = read(write(other, frozenset({str(file)}))[1], shared)
    assert third is first and second is not first and len(shared) == 2


def test_constants_in_other_files_are_no_external_ones(array: np.ndarray) -> None:
    assert write({0: origin_of(array)}, frozenset({"/elsewhere"})) == (set(), b"")


def test_filters_that_are_scaled_are_no_external_ones(file: Path, array: np.ndarray) -> None:
    filters = DeferredArray.by(FilterBlocks(1, (Mul(),)), [array, array[:, 0]], array.dtype, (1, 60))
    assert write({0: origin_of(filters)}, frozenset({str(file)})) == (set(), b"")


@pytest.mark.parametrize("change", [lambda path: path.write_bytes(b"other"), lambda path: path.unlink()])
def test_nothing_is_read_from_a_file_that_has_changed(file: Path, array: np.ndarray, change) -> None:
    _, data = write({0: origin_of(array)}, frozenset({str(file)}))
    assert len(read(data, {})) == 1
    change(file)
    assert read(data, {}) == []


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x90"])
def test_other_bytes_are_no_constants(data: bytes) -> None:
    assert read(data, {}) == []
