"""Ten thousand calls of an embedded loop take no more memory than the first ones, those that fail too."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from onnx_text import model
from onnxruntime.capi.onnxruntime_pybind11_state import RuntimeException

from embed.running import embedded_session

CALLS = 10_000
TEXT = """main (float[n] x, int64 k) => (float[m] grown, float[r, n] rows) {
    start = Constant<value = float[0] {}> ()
    grown, rows = Loop (k, "", start) <
        body = step (int64 i, bool go, float[l] g) => (bool on, float[l2] g2, float[n] row) {
            on = Identity(go)
            one = Gather(x, i)
            row = Mul(x, one)
            g2 = Concat<axis = 0>(g, row)
        }>
}"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is counted as Linux does")
def test_memory_does_not_grow_over_many_calls(tmp_path):
    session, made = embedded_session(model(TEXT), tmp_path)
    assert made.library
    feeds = {"x": np.ones(200, np.float32), "k": np.array(5)}

    def calls(count: int) -> int:
        for number in range(count):
            if number % 20:
                assert session.run(["grown"], feeds)[0].shape == (1000,)
            else:
                with pytest.raises(RuntimeException, match="is refused"):
                    session.run(None, feeds | {"k": np.array(201)})
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    calls(500)
    sizes = [calls(CALLS // 4) for _ in range(5)]
    # What a call loses grows in each quarter; what else this process does may take memory in some.
    assert min(after - before for before, after in pairwise(sizes)) < 1_000_000
