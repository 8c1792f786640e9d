"""Arrays in mapped files: what was read of them is counted, and their pages given back."""

from pathlib import Path

import numpy as np
import pytest

from whorl.ir.elements import mapping
from whorl.ir.elements.mapping import MappedFile, mapped_file, mapping_of, note_read


@pytest.fixture
def file(tmp_path: Path) -> MappedFile:
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(64, dtype=np.float32).tobytes())
    with path.open("rb") as opened:
        return mapped_file(opened.fileno())


def test_mapping_of_a_view_is_that_of_its_array(file: MappedFile) -> None:
    array = np.frombuffer(memoryview(file), np.float32)
    assert mapping_of(array.reshape(8, 8).T[2:]) is file
    assert mapping_of(np.zeros(3)) is None


def test_pages_go_after_so_many_readings(file: MappedFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "RESIDENT", 2 * mapping._TOUCHED)
    array = np.frombuffer(memoryview(file), np.float32)
    counts = []
    for _ in range(4):
        note_read(array)
        counts.append(file.count // mapping._TOUCHED)
    assert counts == [1, 2, 0, 1]
    np.testing.assert_array_equal(array, np.arange(64))


def test_reading_an_array_in_memory_counts_nowhere(file: MappedFile) -> None:
    note_read(np.zeros(3))
    assert file.count == 0
