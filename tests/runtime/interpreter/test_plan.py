"""Plans: what a run keeps in memory."""

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.runtime.interpreter.plan import Plan

pytestmark = pytest.mark.usefixtures("each_backend")


def test_collected_slices_do_not_keep_what_they_are_cut_from():
    source = model("""main (int64 n, float x) => (float[k, 1] ys, seq(float[1]) s) {
        size = Constant <value_ints = [100000]> ()
        zero = Constant <value_ints = [0]> ()
        one = Constant <value_ints = [1]> ()
        empty = SequenceEmpty ()
        s, ys = Loop (n, "", empty) <body = b (int64 i, bool c, seq(float[1]) t)
            => (bool d, seq(float[1]) u, float[1] y) {
            d = Identity(c)
            wide = Expand(x, size)
            negative = Neg(wide)
            y = Slice(negative, zero, one)
            u = SequenceInsert(t, y)
        }>
    }""")
    session = whorl.InferenceSession(source)
    (ys, items) = session.run(None, {"n": np.int64(50), "x": np.float32(1)})
    assert ys.tolist() == [[-1]] * 50 and len(items) == 50
    options = whorl.RunOptions()
    options.max_memory = 3_000_000
    session.run(None, {"n": np.int64(50), "x": np.float32(1)}, options)


def test_constants_are_read_only_views_so_that_outputs_copy_them():
    source = model("""main (int64 n) => (float[2] c, string[2] s, seq(float[2]) pair) {
        c = Constant <value = float[2] {1, 2}> ()
        s = Constant <value_strings = ["a", "b"]> ()
        pair = SequenceConstruct(c, c)
    }""")
    session = whorl.InferenceSession(source)
    arrays = [a for a in Plan(whorl.load(source).main).template if a is not None]
    assert len(arrays) == 2 and all(a.base is not None and not a.flags.writeable for a in arrays)
    c, s, pair = session.run(None, {"n": np.int64(0)})
    c[:], s[:], pair[0][:] = -1, "", -2
    c, s, pair = session.run(None, {"n": np.int64(0)})
    assert (c.tolist(), s.tolist(), [a.tolist() for a in pair]) == ([1, 2], ["a", "b"], [[1, 2], [1, 2]])
