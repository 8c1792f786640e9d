"""Files here and wherever fsspec opens them: written whole or not at all."""

import errno
import os

import fsspec
import pytest

from whorl.errors import RunError, SaveError
from whorl.scoring.storage import Storage


@pytest.fixture(params=["local", "memory"])
def folder(request, tmp_path):
    yield Storage(str(tmp_path / "out") if request.param == "local" else "memory://storage/out")
    fsspec.filesystem("memory").store.clear()


def test_file_has_its_name_once_it_is_whole(folder):
    with (folder / "a.bin").write() as file:
        file.write(b"abc")
        assert folder.names() in ([], ["_temporary"])
    assert (folder / "a.bin").read() == b"abc" and (folder / "a.bin").exists()
    folder.remove_temporary()
    assert folder.names() == ["a.bin"]


def test_file_that_fails_has_no_name(folder):
    with pytest.raises(KeyError), (folder / "a.bin").write() as file:
        file.write(b"abc")
        raise KeyError
    assert not (folder / "a.bin").exists()


def test_full_disk_is_named(tmp_path):
    target = Storage(str(tmp_path / "out" / "a.bin"))
    with pytest.raises(SaveError) as error, target.write():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert str(error.value) == (
        f"cannot write '{tmp_path}/out/a.bin': No space left on device\n"
        "  fix: mend that and start again: parts that are written are not computed again"
    )


def test_fingerprint_changes_with_the_file(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"abc")
    before = Storage(str(path)).fingerprint
    assert Storage(str(path)).fingerprint == before
    path.write_bytes(b"abd")
    assert Storage(str(path)).fingerprint != before


def test_missing_file_is_named(tmp_path):
    missing = Storage(str(tmp_path / "missing"))
    for read in (missing.read, lambda: missing.fingerprint):
        with pytest.raises(RunError) as error:
            read()
        assert str(error.value) == f"cannot read '{tmp_path}/missing': No such file or directory"


def test_unknown_protocol_is_named():
    with pytest.raises(RunError, match=r"^cannot open 'nowhere://x': "):
        _ = Storage("nowhere://x").system
    assert Storage("memory://a/b.CSV").suffix == ".csv"
    assert not Storage("memory://a/b.CSV").is_local
