"""The collector of cycles rests while modules are imported, and is afterwards what it was."""

import gc
import sys

import pytest

from whorl.ir.collector import collector_paused
from whorl.ir.forking import import_whole


@pytest.fixture(autouse=True)
def enabled():
    gc.enable()
    yield
    gc.enable()


def test_collector_is_enabled_again_after_an_error():
    with pytest.raises(ValueError), collector_paused():
        assert not gc.isenabled()
        raise ValueError
    assert gc.isenabled()


def test_collector_that_rested_before_goes_on_resting():
    gc.disable()
    with collector_paused(), collector_paused():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_import_does_not_collect(tmp_path, monkeypatch):
    (tmp_path / "imported_at_rest.py").write_text("import gc\nwas_enabled = gc.isenabled()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not import_whole("imported_at_rest").was_enabled
    assert gc.isenabled()
    del sys.modules["imported_at_rest"]
