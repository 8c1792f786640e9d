"""RNN, GRU and LSTM written out as loops mean what `run` says, interpreted and native."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from one_program import LENGTHS, OneProgram, check_one_program
from written_out import check_equal, compiled, interpreted, region_of

from whorl.kernel.outline import outline
from whorl.kernel.program import While
from whorl.lowering.decomposition import decompose
from whorl.ops.recurrent.rnn import GRU, LSTM, RNN, Recurrent

STEPS, BATCH, SIZE, HIDDEN = 5, 3, 4, 6
FUNCTIONS = (
    *("Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh"),
    *("Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"),
)


def arrays_for(
    op: Recurrent, left_out: str = "", dtype: Any = np.float32, batch: int = BATCH, steps: int = STEPS
) -> list[Any]:
    """Inputs of the op; `left_out` holds letters of optional ones: b, s (lengths), i (initial states), p."""
    data, weights = (np.random.default_rng(n) for n in range(2))
    directions, gates = len(op.reversals()), op.gates

    def make(*shape: int, rng: np.random.Generator = weights) -> np.ndarray:
        return (rng.standard_normal(shape) * 0.5).astype(dtype)

    x = make(steps, batch, SIZE, rng=data)
    states = [make(directions, batch, HIDDEN, rng=data) for _ in range(op.states)]
    if op.layout:
        x, states = x.swapaxes(0, 1).copy(), [s.swapaxes(0, 1).copy() for s in states]
    lengths = np.array([steps, 0, 2][:batch], np.int32)
    actual: list[Any] = [x, make(directions, gates * HIDDEN, SIZE), make(directions, gates * HIDDEN, HIDDEN)]
    actual += [None if "b" in left_out else make(directions, 2 * gates * HIDDEN), None if "s" in left_out else lengths]
    actual += [None if "i" in left_out else s for s in states]
    return [*actual, None if "p" in left_out else make(directions, 3 * HIDDEN)] if op.states == 2 else actual


def weights_of(op: Recurrent) -> tuple[int, ...]:
    """The inputs that are weights."""
    return (1, 2, 3, 7) if isinstance(op, LSTM) else (1, 2, 3)


def ops() -> Iterator[Recurrent]:
    """Every op with every attribute that changes its nodes."""
    for direction, layout, clip in itertools.product(("forward", "reverse", "bidirectional"), (0, 1), (None, 0.3)):
        same: dict[str, Any] = {"direction": direction, "layout": layout, "clip": clip, "hidden_size": HIDDEN}
        yield RNN(**same)
        for flag in (0, 1):
            yield GRU(linear_before_reset=flag, **same)
            yield LSTM(input_forget=flag, **same)


@pytest.mark.parametrize("left_out", ["", "b", "s", "i", "p", "bsip"])
def test_nodes_of_every_variant_mean_the_op(left_out: str) -> None:
    for op in ops():
        arrays = arrays_for(op, left_out)
        check_equal(op, arrays, interpreted(op, arrays, 1 + op.states), 2e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nodes_of_every_activation_mean_the_function(name: str) -> None:
    op = RNN(activations=(name,), activation_alpha=(0.3,), activation_beta=(0.7,), hidden_size=HIDDEN)
    check_equal(op, arrays_for(op), interpreted(op, arrays_for(op), 2), 2e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 2e-3), (ml_dtypes.bfloat16, 2e-2), ("float64", 1e-12)])
def test_nodes_compute_other_floats_as_the_op_does(dtype: Any, tolerance: float) -> None:
    op = LSTM(hidden_size=HIDDEN)
    arrays = arrays_for(op, dtype=dtype)
    check_equal(op, arrays, interpreted(op, arrays, 3), tolerance)


@pytest.mark.parametrize(
    "op",
    [
        RNN(hidden_size=HIDDEN, direction="reverse"),
        GRU(hidden_size=HIDDEN, direction="bidirectional", layout=1),
        GRU(hidden_size=HIDDEN, linear_before_reset=1),
        LSTM(hidden_size=HIDDEN, clip=0.4, direction="bidirectional"),
    ],
    ids=lambda op: op.name,
)
@pytest.mark.parametrize("left_out", ["", "s"])
def test_machine_code_means_the_op(op: Recurrent, left_out: str) -> None:
    arrays = arrays_for(op, left_out)
    check_equal(op, arrays, compiled(op, arrays, 1 + op.states), 1e-5)


@pytest.mark.parametrize("kind", [RNN, GRU, LSTM])
def test_loops_of_both_directions_are_one_nest(kind: type[Recurrent]) -> None:
    op = kind(hidden_size=HIDDEN, direction="bidirectional")
    program = OneProgram(op, arrays_for(op, "si"), 1 + op.states, weights_of(op)).launch.graph.program
    loops = [nest for nest in outline(program).values() if isinstance(nest.statement, While)]
    assert len(loops) == 2 and len(set(loops)) == 1


def test_machine_code_refuses_lengths_outside_the_sequence() -> None:
    op = RNN(hidden_size=HIDDEN)
    for bad in (-1, STEPS + 1):
        arrays = arrays_for(op)
        arrays[4] = np.array([1, bad, 2], np.int32)
        assert compiled(op, arrays, 2) is None


def test_empty_sequences_stay_one_op() -> None:
    op = RNN(hidden_size=HIDDEN)
    arrays = arrays_for(op, "s")
    arrays[0] = arrays[0][:0]
    region = region_of(op, arrays, 2)
    decompose(region)
    assert [type(node.op) for node in region.nodes] == [RNN]


@pytest.mark.parametrize(
    "op",
    [
        RNN(hidden_size=HIDDEN, direction="reverse", layout=1),
        GRU(hidden_size=HIDDEN, linear_before_reset=1),
        LSTM(hidden_size=HIDDEN, direction="bidirectional"),
    ],
    ids=lambda op: op.name,
)
@pytest.mark.parametrize("left_out", ["", "s", "bsip"])
@pytest.mark.parametrize("batches", [(1, 1, 1, 1), (2, 3, 2, 3)])
def test_one_program_serves_every_number_of_steps_and_rows(op: Recurrent, left_out: str, batches: Any) -> None:
    cases = [arrays_for(op, left_out, batch=n, steps=steps) for n, steps in zip(batches, LENGTHS, strict=True)]
    check_one_program(op, cases, 1 + op.states, 1e-5, constants=weights_of(op))


@pytest.mark.parametrize(("wrong", "axis"), [(4, 0), (5, 1)])
def test_program_for_every_length_refuses_operands_of_another_batch(wrong: int, axis: int) -> None:
    op = RNN(hidden_size=HIDDEN)
    arrays = arrays_for(op)
    program = OneProgram(op, arrays, 2, weights_of(op))
    assert program.run(arrays) is not None
    arrays[wrong] = arrays[wrong].take(range(2), axis)
    assert program.run(arrays) is None


def test_program_for_every_length_refuses_sequence_lengths_outside_the_steps() -> None:
    op = RNN(hidden_size=HIDDEN)
    arrays = arrays_for(op)
    program = OneProgram(op, arrays, 2, weights_of(op))
    for bad in (-1, STEPS + 1):
        arrays[4] = np.array([1, bad, 2], np.int32)
        assert program.run(arrays) is None
