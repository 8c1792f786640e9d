"""The collector of cycles rests while modules are imported, and is afterwards what it was."""

import gc
import sys

import pytest

from whorl.ir.collector import MANY, collector_paused
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


def test_many_objects_of_a_pause_are_old_ones_afterwards():
    gc.collect()
    with collector_paused():
        few = [[n] for n in range(100)]
    assert any(each is few[0] for each in gc.get_objects(generation=0))
    with collector_paused():
        many = [[n] for n in range(MANY)]
    assert not any(each is many[0] for each in gc.get_objects(generation=0))
    assert any(each is many[0] for each in gc.get_objects(generation=2))
    assert gc.isenabled() and not gc.get_freeze_count()


def test_frozen_objects_remain_so():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with collector_paused():
            many = [[n] for n in range(2 * MANY)]
        assert gc.get_freeze_count() >= count - 100 and gc.isenabled() and len(many) == 2 * MANY
    finally:
        gc.unfreeze()
