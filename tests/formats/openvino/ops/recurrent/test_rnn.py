"""Recurrent cells and sequences."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of
from formats.openvino.one_layer import Fixed, check_layer, check_node

from whorl.errors import LoadError
from whorl.ops.recurrent.rnn import GRU, LSTM, RNN, Recurrent

NUMBERS = np.random.default_rng(5)
BATCH, STEPS, SIZE, HIDDEN = 3, 4, 2, 3
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}
LENGTHS = np.array([4, 2, 0], np.int32)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


def attributes(kind: str, **more: object) -> dict:
    settings = {
        "hidden_size": HIDDEN,
        "activations": ACTIVATIONS[kind],
        "activations_alpha": [],
        "activations_beta": [],
    }
    return settings | {"clip": 0.0} | more


def cell_inputs(kind: str, biases: int) -> list:
    rows, states = GATES[kind] * HIDDEN, 2 if kind == "LSTM" else 1
    weights = [normal(rows, SIZE), normal(rows, HIDDEN), normal(biases * HIDDEN)]
    return [normal(BATCH, SIZE), *(normal(BATCH, HIDDEN) for _ in range(states)), *map(Fixed, weights)]


@pytest.mark.parametrize("clip", [0.0, 0.6])
@pytest.mark.parametrize(
    ("kind", "version", "more"),
    [
        ("LSTM", 4, {}),
        ("LSTM", 1, {"weights_format": "fico", "input_forget": False}),
        ("LSTM", 4, {"activations": ["relu", "sigmoid", "tanh"]}),
        ("GRU", 3, {"linear_before_reset": False}),
        ("GRU", 3, {"linear_before_reset": True}),
        ("RNN", 3, {}),
        ("RNN", 3, {"activations": ["relu"]}),
    ],
)
def test_cells(kind: str, version: int, more: dict, clip: float) -> None:
    biases = GATES[kind] + bool(more.get("linear_before_reset"))
    check_layer(f"{kind}Cell", version, cell_inputs(kind, biases), attributes(kind, clip=clip, **more))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(
    ("kind", "late", "clip"), [("LSTM", 0, 0), ("LSTM", 0, 0.6), ("GRU", 0, 0.6), ("GRU", 1, 0), ("RNN", 0, 0)]
)
def test_sequences_stop_at_the_length_of_a_row(kind: str, late: int, clip: float, direction: str) -> None:
    count, states = 1 + (direction == "bidirectional"), 2 if kind == "LSTM" else 1
    gates = GATES[kind]
    shapes = [(gates * HIDDEN, SIZE), (gates * HIDDEN, HIDDEN), ((gates + late) * HIDDEN,)]
    weights = [Fixed(normal(count, *shape)) for shape in shapes]
    inputs = [normal(BATCH, STEPS, SIZE), *(normal(BATCH, count, HIDDEN) for _ in range(states)), LENGTHS, *weights]
    more = {"linear_before_reset": bool(late)} if kind == "GRU" else {}
    settings = attributes(kind, direction=direction, clip=clip, **more)
    check_layer(f"{kind}Sequence", 5, inputs, settings, dynamic=[False])
    check_layer(f"{kind}Sequence", 5, [*inputs[: 1 + states], np.full(BATCH, STEPS, np.int32), *weights], settings)


def op_inputs(op: Recurrent, whole: bool) -> list:
    count, batch_first = len(op.reversals()), bool(op.layout)
    rows = op.gates * HIDDEN
    x, state = (STEPS, BATCH, SIZE), (count, BATCH, HIDDEN)
    if batch_first:
        x, state = (BATCH, STEPS, SIZE), (BATCH, count, HIDDEN)
    inputs = [normal(*x), normal(count, rows, SIZE), normal(count, rows, HIDDEN)]
    return [*inputs, normal(count, 2 * rows), LENGTHS, *(normal(*state) for _ in range(op.states))] if whole else inputs


@pytest.mark.parametrize("constants", [(), (1, 2, 3)], ids=["computed", "constant"])
@pytest.mark.parametrize("whole", [False, True], ids=["defaults", "all inputs"])
@pytest.mark.parametrize(
    "op",
    [
        LSTM(hidden_size=HIDDEN, direction="bidirectional"),
        LSTM(hidden_size=HIDDEN, layout=1),
        GRU(hidden_size=HIDDEN, direction="reverse", linear_before_reset=1, clip=0.6),
        GRU(hidden_size=HIDDEN, layout=1),
        RNN(hidden_size=HIDDEN, activations=("Relu", "Relu"), direction="bidirectional"),
    ],
    ids=lambda op: op.name,
)
def test_sequences_written(op: Recurrent, whole: bool, constants: tuple[int, ...]) -> None:
    inputs = op_inputs(op, whole)
    constants = tuple(k for k in constants if k < len(inputs))
    check_node(op, inputs, constants, outputs=1 + op.states, dynamic=[False, True] if constants else [False])


@pytest.mark.parametrize(
    "op",
    [
        LSTM(clip=0.5),
        LSTM(input_forget=1),
        RNN(activations=("Elu", "Elu")),
        GRU(activations=("HardSigmoid", "Softsign")),
    ],
)
def test_what_openvino_lacks_is_written_as_a_loop(op: Recurrent) -> None:
    check_node(op, op_inputs(op, False), outputs=1 + op.states, dynamic=[False])


def test_peepholes_are_written_as_a_loop() -> None:
    inputs = [*op_inputs(LSTM(), True), normal(1, 3 * HIDDEN)]
    check_node(LSTM(), inputs, outputs=3, dynamic=[False])


def read_gru(**data: object) -> str:
    """The message with which a sequence of biases [1, 9] is refused."""
    shapes = ["2,4,2", "2,1,3", "2", "1,9,2", "1,9,3", "1,9"]
    layers = [parameter(k, shape, "i64" if shape == "2" else "f32") for k, shape in enumerate(shapes)]
    settings = {"direction": "forward", "hidden_size": 3} | data
    layers += [layer(6, "GRUSequence", 6, ("FP32", "FP32"), "opset5", name="g", **settings), result(7)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, " ".join(f"{k}:0-6:{k}" for k in range(6)) + " 6:6-7:0"))
    return str(caught.value)


@pytest.mark.parametrize("size", [0, -3, 4, 1 << 40])
def test_hidden_size_that_does_not_divide_the_biases_is_refused(size: int) -> None:
    message = f"GRUSequence 'g' (line 10): OV501: hidden_size is {size}, the biases are float32[1, 9]"
    assert read_gru(hidden_size=size).startswith(message)


def test_direction_that_is_none_is_refused() -> None:
    assert read_gru(direction="upwards") == (
        "GRUSequence 'g' (line 10): OV501: direction is 'upwards'\n  fix: choose from forward, reverse, bidirectional"
    )
