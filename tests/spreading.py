"""Programs of which several cores share all that they may, however small it is, from their first run on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import whorl
from whorl.api import session
from whorl.codegen import pool
from whorl.debug import Debug
from whorl.kernel import spread
from whorl.runtime.compiled import cores, launch


def share_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (spread, cores, launch, session):
        monkeypatch.setattr(module, "debug", lambda: Debug(spreads=True))


def session_of(data: bytes, threads: int) -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.intra_op_num_threads = threads
    return whorl.InferenceSession(data, options)


def results(data: bytes, threads: int, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    return session_of(data, threads).run(None, dict(feeds))


def steps_handed_out() -> int:
    """Those of the last nest that the pool of this process has had."""
    current = cores._pools.current
    return 0 if current is None else current.block[pool.NEXT]
