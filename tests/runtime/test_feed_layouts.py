"""Feeds in every layout of memory that NumPy has: the op's meaning, whatever way the run before took."""

import numpy as np
import pytest
from onnx_text import model

import whorl

SHAPE = (6, 8)
WHOLE = np.arange(48, dtype=np.float32).reshape(SHAPE)


class Named(np.ndarray):
    """An array of another class."""


def unaligned(x: np.ndarray) -> np.ndarray:
    memory = np.zeros(x.nbytes + 1, np.uint8)
    actual = memory[1:].view(x.dtype).reshape(x.shape)
    actual[...] = x
    return actual


def mapped(x: np.ndarray, folder) -> np.ndarray:
    path = folder / "x.bin"
    x.tofile(path)
    return np.memmap(path, x.dtype, "r", shape=x.shape)


def read_only(x: np.ndarray) -> np.ndarray:
    actual = x.copy()
    actual.flags.writeable = False
    return actual


def embedded(x: np.ndarray) -> np.ndarray:
    """Between NaN, so that an access outside is seen."""
    memory = np.full((x.shape[0] + 2, x.shape[1] + 2), np.nan, x.dtype)
    memory[1:-1, 1:-1] = x
    return memory[1:-1, 1:-1]


def spread(x: np.ndarray) -> np.ndarray:
    memory = np.full((2 * x.shape[0], 3 * x.shape[1]), np.nan, x.dtype)
    memory[::2, ::3] = x
    return memory[::2, ::3]


def in_record(x: np.ndarray) -> np.ndarray:
    memory = np.zeros(x.shape, [("a", "u1"), ("x", x.dtype), ("b", "u2")])
    memory["x"] = x
    return memory["x"]


LAYOUTS = {
    "as it is": lambda x, _: x.copy(),
    "columns first": lambda x, _: np.asfortranarray(x),
    "transposed": lambda x, _: np.ascontiguousarray(x.T).T,
    "rows reversed": lambda x, _: x[::-1].copy()[::-1],
    "all reversed": lambda x, _: x[::-1, ::-1].copy()[::-1, ::-1],
    "spread": lambda x, _: spread(x),
    "embedded": lambda x, _: embedded(x),
    "in records": lambda x, _: in_record(x),
    "unaligned": lambda x, _: unaligned(x),
    "of the other byte order": lambda x, _: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda x, _: read_only(x),
    "of another class": lambda x, _: x.view(Named),
    "a matrix": lambda x, _: np.asmatrix(x),
    "mapped": mapped,
    "frozen bytes": lambda x, _: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "nested lists": lambda x, _: x.tolist(),
}
PROGRAM = model("""main (float[n, m] x, int64[k] i) => (float[n, m] double, float[k, m] rows, float[m, n] turned,
    float[n, m] carried) {
  two = Constant<value = int64 {2}> ()
  double = Add(x, x)
  rows = Gather<axis = 0>(x, i)
  turned = Transpose(x)
  carried = Loop(two, , x) <body = b (int64 t, bool c, float[n, m] a) => (bool d, float[n, m] e) {
    d = Identity(c) e = Add(a, x) }>
}""")


def check(session: whorl.InferenceSession, x, i, plain: np.ndarray, index: np.ndarray) -> None:
    actual = session.run(None, {"x": x, "i": i})
    expected = [plain + plain, plain[index], plain.T, plain + plain + plain]
    for got, right in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(got, right)
        assert not np.shares_memory(got, np.asarray(x))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_of_a_feed_changes_nothing(each_backend, layout, tmp_path):
    session, lay_out = whorl.InferenceSession(PROGRAM), LAYOUTS[layout]
    index = np.array([5, 0, -1], np.int64)
    for run in range(3):
        plain = WHOLE + run
        check(session, plain.copy(), index, plain, index)
        check(session, lay_out(plain, tmp_path), index, plain, index)
        spread_index = np.repeat(index, 2)[::2]
        check(session, lay_out(plain, tmp_path), spread_index, plain, index)


def test_repeated_and_empty_feeds(each_backend):
    session = whorl.InferenceSession(PROGRAM)
    index = np.array([1, 0], np.int64)
    for row in (np.float32(3), np.arange(4, dtype=np.float32)):
        x = np.broadcast_to(row, (2, 4))
        check(session, x, np.broadcast_to(index[:1], 2), np.ascontiguousarray(x), np.array([1, 1]))
    empty = np.empty((2, 0), np.float32)
    for x in (empty, np.empty((0, 2), np.float32).T, np.broadcast_to(np.float32(1), (2, 0))):
        check(session, x, index, empty, index)


@pytest.mark.parametrize("value", [np.array(3, np.float32), np.zeros(6, np.float32), np.zeros((6, 8, 1), np.float32)])
def test_feed_of_another_rank_is_an_error(each_backend, value):
    session = whorl.InferenceSession(PROGRAM)
    session.run(None, {"x": WHOLE, "i": np.array([0])})
    with pytest.raises(whorl.RunError):
        session.run(None, {"x": value, "i": np.array([0])})


@pytest.mark.parametrize("name", ["declared", "said of a value inside", "of the result"])
def test_shapes_that_lie_are_errors_or_give_way(each_backend, name):
    text = "main (float[4] x, int64[2] i) => (y) { s = Sin(x) g = Gather<axis = 0>(s, i) y = Cos(g) }"
    proto = model(text)
    if name == "said of a value inside":
        proto.graph.value_info.add(name="s").CopyFrom(proto.graph.input[0])
        proto.graph.value_info[-1].name = "s"
        proto.graph.value_info[-1].type.tensor_type.shape.dim[0].dim_value = 1 << 40
    elif name == "of the result":
        proto.graph.output[0].CopyFrom(proto.graph.input[0])
        proto.graph.output[0].name = "y"
        proto.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 1 << 40
    x, index = np.arange(4, dtype=np.float32), np.array([3, 0])
    if name == "declared":
        session = whorl.InferenceSession(proto)
        for wrong in (np.zeros(3, np.float32), np.zeros(5, np.float32)):
            with pytest.raises(whorl.RunError):
                session.run(None, {"x": wrong, "i": index})
        return
    try:
        session = whorl.InferenceSession(proto)
        actual = session.run(None, {"x": x, "i": index})[0]
    except whorl.WhorlError:
        return
    np.testing.assert_allclose(actual, np.cos(np.sin(x[index])), rtol=1e-6)
