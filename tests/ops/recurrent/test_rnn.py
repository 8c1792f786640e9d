"""RNN, GRU and LSTM against onnxruntime over random configurations, and what the source says beyond it."""

import ml_dtypes
import numpy as np
import pytest
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.recurrent.rnn import GRU, LSTM, RNN

FLOAT32 = np.dtype(np.float32)
KINDS = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}
PARAMETERS = {
    "Affine": (True, True),
    "Elu": (True, False),
    "HardSigmoid": (True, True),
    "LeakyRelu": (True, False),
    "Relu": (False, False),
    "ScaledTanh": (True, True),
    "Sigmoid": (False, False),
    "Softplus": (False, False),
    "Softsign": (False, False),
    "Tanh": (False, False),
    "ThresholdedRelu": (True, False),
}
"""Each activation, and whether it takes an alpha and a beta."""


def normal(rng, *shape):
    return rng.normal(size=shape, scale=0.4).astype(np.float32)


def maybe(rng, value):
    return value if rng.integers(2) else None


def tensors(rng, kind, directions, least_length=1):
    """Random inputs, some of them omitted."""
    op = KINDS[kind]
    steps, batch, size, hidden = (int(n) for n in rng.integers(1, 6, 4))
    rows = op.gates * hidden
    lengths = rng.integers(least_length, steps + 1, batch).astype(np.int32)
    shapes = (steps, batch, size), (directions, rows, size), (directions, rows, hidden)
    values = [normal(rng, *shape) for shape in shapes]
    values += [maybe(rng, normal(rng, directions, 2 * rows)), maybe(rng, lengths)]
    values += [maybe(rng, normal(rng, directions, batch, hidden)) for _ in range(op.states)]
    return values + ([maybe(rng, normal(rng, directions, 3 * hidden))] if kind == "LSTM" else [])


def parameters(rng, names):
    """An alpha and a beta for every activation that takes one."""
    counts = [sum(PARAMETERS[name][k] for name in names) for k in range(2)]
    drawn = [tuple(float(v) for v in rng.uniform(0.1, 1, n).astype(np.float32)) for n in counts]
    return {key: value for key, value in zip(("activation_alpha", "activation_beta"), drawn, strict=True) if value}


def configuration(rng, kind):
    """Random attributes."""
    direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
    directions, each = 1 + (direction == "bidirectional"), len(KINDS[kind].defaults)
    attributes = {"direction": direction}
    if rng.integers(2):
        names = tuple(str(rng.choice(list(PARAMETERS))) for _ in range(each * directions))
        attributes |= {"activations": names, **parameters(rng, names)}
    if rng.integers(3) == 0:
        attributes["clip"] = float(np.float32(rng.uniform(0.2, 2)))
        if kind == "LSTM":  # onnxruntime leaves the argument of h unclipped: an h that ignores it
            names = ("Sigmoid", "Tanh", "Affine") * directions
            attributes |= {"activations": names, "activation_alpha": (0.0,) * directions}
            attributes |= {"activation_beta": (0.5,) * directions}
    if kind == "GRU":
        attributes["linear_before_reset"] = int(rng.integers(2))
    if kind == "LSTM":
        attributes["input_forget"] = int(rng.integers(4) == 0)
    return attributes, directions


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", KINDS)
def test_random_configuration_equals_onnxruntime(kind, seed):
    rng = np.random.default_rng(seed)
    attributes, directions = configuration(rng, kind)
    inputs = tensors(rng, kind, directions)
    op = KINDS[kind](**attributes)
    model = single_node(kind, inputs, 14, 1 + op.states, hidden_size=inputs[2].shape[2], **attributes)
    expected = onnxruntime_run(model, feeds(inputs))
    with np.errstate(all="ignore"):
        outputs = op.run(*inputs)
    for mine, theirs in zip(outputs, expected, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("kind", KINDS)
def test_row_without_steps_gives_zero_as_onnxruntime_does(kind, direction):
    rng, op = np.random.default_rng(1), KINDS[kind](direction=direction)
    rows, states = op.gates * 2, [normal(rng, 1, 3, 2) for _ in range(op.states)]
    lengths = np.array([0, 4, 2], np.int32)
    inputs = [normal(rng, 4, 3, 2), normal(rng, 1, rows, 2), normal(rng, 1, rows, 2), None, lengths, *states]
    model = single_node(kind, inputs, 14, 1 + op.states, hidden_size=2, direction=direction)
    outputs = op.run(*inputs)
    for mine, theirs in zip(outputs, onnxruntime_run(model, feeds(inputs)), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)
    assert not any(state[:, 0].any() for state in outputs[1:])


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", KINDS)
def test_padded_rows_equal_rows_run_alone(kind, direction):
    rng, op = np.random.default_rng(2), KINDS[kind](direction=direction)
    directions, rows = len(op.reversals()), op.gates * 3
    lengths = np.array([1, 5, 3], np.int32)
    x, w, r = normal(rng, 5, 3, 2), normal(rng, directions, rows, 2), normal(rng, directions, rows, 3)
    y, *finals = op.run(x, w, r, None, lengths)
    for row, length in enumerate(lengths):
        alone, *last = op.run(x[:length, row : row + 1], w, r)
        np.testing.assert_allclose(y[:length, :, row], alone[:, :, 0], rtol=1e-6, atol=1e-6)
        assert not y[length:, :, row].any()
        for mine, other in zip(finals, last, strict=True):
            np.testing.assert_allclose(mine[:, row], other[:, 0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_layout_1_puts_the_batch_first(kind):
    rng, op = np.random.default_rng(3), KINDS[kind](direction="bidirectional")
    rows, states = op.gates * 3, [normal(rng, 2, 4, 3) for _ in range(op.states)]
    x, w, r = normal(rng, 5, 4, 2), normal(rng, 2, rows, 2), normal(rng, 2, rows, 3)
    y, *finals = op.run(x, w, r, None, None, *states)
    batch_first = KINDS[kind](direction="bidirectional", layout=1)
    y1, *finals1 = batch_first.run(x.swapaxes(0, 1), w, r, None, None, *(s.swapaxes(0, 1) for s in states))
    np.testing.assert_array_equal(y1, y.transpose(2, 0, 1, 3))
    for mine, other in zip(finals1, finals, strict=True):
        np.testing.assert_array_equal(mine, other.swapaxes(0, 1))


def test_lstm_clip_has_the_argument_of_every_activation():
    one = np.ones((1, 1, 1), np.float32)
    w, r, c = np.ones((1, 4, 1), np.float32), np.zeros((1, 4, 1), np.float32), np.full((1, 1, 1), 9, np.float32)
    op = LSTM(activations=("Affine", "Affine", "Affine"), clip=0.5)
    y, _, y_c = op.run(one, w, r, None, None, None, c)
    assert y_c.item() == 0.5 * 9 + 0.5 * 0.5
    assert y.item() == 0.5 * 0.5


def test_input_forget_couples_the_gates():
    rng = np.random.default_rng(4)
    x, w, r = normal(rng, 1, 1, 2), normal(rng, 1, 4, 2), np.zeros((1, 4, 1), np.float32)
    c = np.full((1, 1, 1), 3, np.float32)
    i, _, _, candidate = (w[0] @ x[0, 0]).tolist()
    gate = 1 / (1 + np.exp(-i))
    y_c = LSTM(input_forget=1).run(x, w, r, None, None, None, c)[2]
    np.testing.assert_allclose(y_c.item(), (1 - gate) * 3 + gate * np.tanh(candidate), rtol=1e-6)


def test_rnn_of_one_direction_takes_the_first_of_two_activations():
    x, w, r = np.array([[[-2.0]]], np.float32), np.ones((1, 1, 1), np.float32), np.zeros((1, 1, 1), np.float32)
    inputs, names = [x, w, r], ("Relu", "Tanh")
    (expected,) = onnxruntime_run(single_node("RNN", inputs, 14, activations=names, hidden_size=1), feeds(inputs))
    assert RNN(activations=names).run(*inputs)[0].item() == expected.item() == 0


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_narrow_floats_are_rounded_once(kind, dtype):
    rng, op = np.random.default_rng(5), KINDS[kind]()
    rows = op.gates * 3
    passed = [normal(rng, 6, 2, 4), normal(rng, 1, rows, 4), normal(rng, 1, rows, 3), normal(rng, 1, 2 * rows)]
    narrow = [value.astype(dtype) for value in passed]
    exact = op.run(*(value.astype(np.float64) for value in narrow))
    for mine, wide in zip(op.run(*narrow), exact, strict=True):
        assert mine.dtype == dtype
        tolerance = 1.01 * float(ml_dtypes.finfo(dtype).eps) / 2 + 1e-6
        np.testing.assert_allclose(mine.astype(np.float64), wide, rtol=tolerance, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_sequence_and_empty_batch(kind):
    op, rows = KINDS[kind](), KINDS[kind].gates * 3
    w, r = np.ones((1, rows, 2), np.float32), np.ones((1, rows, 3), np.float32)
    y, *finals = op.run(np.ones((0, 2, 2), np.float32), w, r)
    assert y.shape == (0, 1, 2, 3) and all(f.shape == (1, 2, 3) and not f.any() for f in finals)
    y, *finals = op.run(np.ones((4, 0, 2), np.float32), w, r)
    assert y.shape == (4, 1, 0, 3) and all(f.shape == (1, 0, 3) for f in finals)


def test_inputs_stay_as_they_are():
    rng = np.random.default_rng(6)
    inputs = [normal(rng, 3, 2, 2), normal(rng, 1, 8, 2), normal(rng, 1, 8, 2), None, None, normal(rng, 1, 2, 2)]
    remaining = [None if value is None else value.copy() for value in inputs]
    LSTM().run(*inputs)
    for value, before in zip(inputs, remaining, strict=True):
        assert before is None or np.array_equal(value, before)


# ---- types ---------------------------------------------------------------------------------------------------------


def fact(*shape):
    return Known(TensorType(FLOAT32, shape))


def test_infer_follows_named_dims():
    n, t = dims.name("N"), dims.name("T")
    y, y_h, y_c = LSTM(direction="bidirectional").infer(fact(t, n, 7), fact(2, 12, 7), fact(2, 12, 3))
    assert str(y) == "float32[T, 2, N, 3]"
    assert str(y_h) == str(y_c) == "float32[2, N, 3]"
    y, y_h = GRU(layout=1).infer(fact(n, t, 7), fact(1, 9, 7), fact(1, 9, 3))
    assert str(y) == "float32[N, T, 1, 3]" and str(y_h) == "float32[N, 1, 3]"


def test_infer_takes_what_any_input_knows():
    unranked = Known(TensorType(FLOAT32, UNRANKED))
    y, y_h = RNN().infer(unranked, unranked, unranked)
    assert y.rank == 4 and y_h.rank == 3 and y.shape[1] == 1
    y, _ = RNN(hidden_size=5).infer(unranked, unranked, unranked, None, None, fact(1, 8, UNKNOWN))
    assert y.shape[1:] == (1, 8, 5)
    y, _ = GRU().infer(unranked, fact(1, 12, UNKNOWN), unranked)
    assert y.shape[3] == 4


@pytest.mark.parametrize(
    ("op", "shapes", "message"),
    [
        (RNN(), [(5, 2, 3), (1, 4, 7), (1, 4, 4)], "input size is both 3 and 7"),
        (RNN(), [(5, 2, 3), (2, 4, 3), (2, 4, 4)], "directions is both 1 and 2"),
        (LSTM(hidden_size=5), [(5, 2, 3), (1, 16, 3), (1, 16, 4)], "hidden size is both 5 and 4"),
        (LSTM(), [(5, 2, 3), (1, 16, 3), (1, 16, 4), (1, 16)], "length of B is both 32 and 16"),
        (GRU(), [(5, 3), (1, 12, 3), (1, 12, 4)], "X has rank 2, expected 3"),
        (RNN(direction="back"), [(5, 2, 3), (1, 4, 3), (1, 4, 4)], "direction 'back' does not exist"),
        (GRU(activations=("Tanh",)), [(5, 2, 3), (1, 12, 3), (1, 12, 4)], "1 activations are named, expected 2"),
        (RNN(activations=("Swish",)), [(5, 2, 3), (1, 4, 3), (1, 4, 4)], "activation 'Swish' does not exist"),
    ],
)
def test_infer_refuses(op, shapes, message):
    with pytest.raises(TypeRuleError) as caught:
        op.infer(*(fact(*shape) for shape in shapes))
    assert caught.value.message == message


def test_run_refuses_lengths_outside_the_sequence():
    w = np.ones((1, 1, 1), np.float32)
    with pytest.raises(RunError) as caught:
        RNN().run(np.ones((3, 2, 1), np.float32), w, w, None, np.array([2, 4], np.int32))
    assert str(caught.value) == "sequence length 4 is outside [0, 3]"
