"""Parts of one tensor, taken by the numbers of many rows."""

import numpy as np
import pytest
from passes.vectorize.programs import check

TEXT = """main(%x: float32[4, 3], %p: int64[n{more}]) {{
  %c: seq(float32[{element}]) = SplitToSequence(%x) {{axis = {axis}, keepdims = {keepdims}}}
  %r: float32[n, {element}] = Loop(_, _, %p, %c) {{scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %k: int64[{one}], %q: seq(float32[{element}])) {{
    %v: float32[{element}] = SequenceAt(%q, %k)
    return %g, %v
  }}
  return r = %r
}}"""


@pytest.mark.parametrize(("axis", "keepdims", "element"), [(0, 0, "3"), (0, 1, "1, 3"), (1, 0, "4"), (-1, 1, "4, 1")])
@pytest.mark.parametrize("one", ["", "1"])
def test_parts_are_rows_of_the_tensor(axis, keepdims, element, one):
    text = TEXT.format(axis=axis, keepdims=keepdims, element=element, one=one, more=", 1" if one else "")
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    for numbers in ([], [2], [0, -1, 1]):
        check(text, {"x": x, "p": np.array(numbers, np.int64).reshape(-1, *[1] * len(one))})
