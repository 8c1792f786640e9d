"""The compiler of a session, and a session without one."""

import numpy as np
from runtime.native_sessions import DOUBLED, F32, session

from whorl.runtime.compiled.partition import CompiledSubgraph


def test_without_a_compiler_everything_is_interpreted(monkeypatch):
    monkeypatch.setattr("whorl.runtime.compiled.compiler.is_available", lambda: False)
    made = session(DOUBLED)
    assert made.run(None, {"n": np.array(5), "x": np.ones(3, F32)})[0].tolist() == [32.0] * 3
    assert not any(isinstance(part, CompiledSubgraph) for part in made.plan.parts)
