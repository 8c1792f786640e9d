"""The fast path: feeds of a known signature, and those that take the long way."""

import pickle

import numpy as np
import pytest
from runtime.native_sessions import F32, SUM, session

import whorl
from whorl.runtime.compiled.program_cache import ProgramCache


def test_feed_of_another_form_is_checked_after_a_direct_run():
    made, feeds = session(SUM), {"x": np.ones(3, F32), "y": np.ones(3, F32)}
    for _ in range(3):
        made.run(None, feeds)
    with pytest.raises(whorl.RunError, match="input 'y' is float64"):
        made.run(None, feeds | {"y": np.ones(3)})
    with pytest.raises(whorl.RunError, match="has no input 'z'"):
        made.run(None, feeds | {"z": np.ones(3, F32)})
    with pytest.raises(whorl.RunError, match="missing inputs: 'y'"):
        made.run(None, {"x": np.ones(3, F32)})
    assert made.run(["z"], {"x": [1, 1, 1], "y": np.ones(3, F32)})[0].tolist() == [2, 2, 2]


def test_feed_that_was_pickled_goes_straight_to_the_program(monkeypatch):
    made, feeds = session(SUM), {"x": np.ones(3, F32), "y": np.ones(3, F32)}
    made.run(None, feeds)
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    assert made.run(None, pickle.loads(pickle.dumps(feeds)))[0].tolist() == [2, 2, 2]


def test_objects_with_dlpack_are_read_without_a_copy():
    class Exported:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    (z,) = session(SUM).run(None, {"x": Exported(np.ones(3, F32)), "y": np.ones(3, F32)})
    assert z.tolist() == [2, 2, 2]
    assert np.from_dlpack(z).tolist() == [2, 2, 2]
