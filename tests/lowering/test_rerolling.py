"""Equal blocks of a graph, lowered once as a loop over their weights, and blocks that are not equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from onnx_text import model
from runtime.native_sessions import both, launches, session
from spreading import results, share_everything

import whorl
from whorl.ir.constants import Constant, as_array
from whorl.ir.graph import walk
from whorl.kernel.program import Spread, While
from whorl.kernel.spread import spread
from whorl.kernel.walk import all_statements
from whorl.lowering.folding import Folded
from whorl.lowering.graphs import lower_graph
from whorl.lowering.rerolling import reroll

BLOCKS, WIDTH = 12, 6
BLOCK = """
    n{k} = LayerNormalization <axis = -1> (x{k}, scale{k})
    a{k} = MatMul(n{k}, w{k})
    b{k} = Add(a{k}, bias{k})
    c{k} = Tanh(b{k})
    d{k} = Mul(c{k}, mask)
    e{k} = Sub(n{k}, d{k})
    f{k} = Softmax <axis = -1> (e{k})
    g{k} = MatMul(f{k}, v{k})
    h{k} = Sigmoid(g{k})
    i{k} = Max(h{k}, c{k})
    x{next} = Add(x{k}, i{k})
"""
MASKED = "mask = Sigmoid(m)"
SHAPES = {"scale": (WIDTH,), "w": (WIDTH, WIDTH), "bias": (WIDTH,), "v": (WIDTH, WIDTH)}
ODD = {1, 5, 6, 9}
"""Blocks that differ, so that no few of them together are equal to the next ones."""
Change = Callable[[int, str], str]


def same(k: int, block: str) -> str:
    return block


def blocks(change: Change = same, outputs: Sequence[str] = (), before: str = MASKED, block: str = BLOCK) -> Any:
    """A model of equal blocks, each with weights of its own, but for what `change` makes of one."""
    text = "".join(change(k, block.format(k=k, next=k + 1)) for k in range(BLOCKS))
    results = ", ".join(f"float[batch, {WIDTH}] {name}" for name in (f"x{BLOCKS}", *outputs))
    head = f"main (float[batch, {WIDTH}] x0, float[batch, {WIDTH}] m) => ({results})"
    made, rng = model(f"{head} {{ {before} {text} }}"), np.random.default_rng(0)
    for k in range(BLOCKS):
        for name, shape in SHAPES.items():
            array = rng.standard_normal(shape).astype(np.float32)
            made.graph.initializer.append(numpy_helper.from_array(array, f"{name}{k}"))
    return made


def feeds(batch: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(batch)
    return {name: rng.standard_normal((batch, WIDTH)).astype(np.float32) for name in ("x0", "m")}


def loops(proto: Any) -> int:
    """The loops that are not in the model, but in its program."""
    region = whorl.load(proto).main
    program = lower_graph(region, region.arguments, takes_lengths=True, joins_blocks=True).program
    return sum(isinstance(statement, While) for statement in all_statements(program.body))


def test_equal_blocks_become_a_loop_with_the_same_bits():
    proto = blocks()
    assert loops(proto) == 1
    region = whorl.load(proto).main
    alone = lower_graph(region, region.arguments, takes_lengths=True).program
    assert not any(isinstance(statement, While) for statement in all_statements(alone.body))
    made = both(proto, feeds(3))
    for batch in (1, 2, 0, 7):
        expected = session(proto, "interpreter").run(None, feeds(batch))
        np.testing.assert_allclose(made.run(None, feeds(batch))[0], expected[0], rtol=1e-5, atol=1e-6)
    assert launches(made)


def swap(k: int, block: str) -> str:
    """Two values go from a block to the next, and change roles on the way."""
    return (
        block + f" y{k + 1} = Neg(x{k})"
        if k == 0
        else block.replace(f"Max(h{k}, c{k})", f"Max(h{k}, y{k})") + (f" y{k + 1} = Neg(x{k})")
    )


def test_several_values_are_carried_and_the_first_block_may_differ():
    proto = blocks(swap, [f"y{BLOCKS}"])
    assert loops(proto) == 1
    both(proto, feeds(4))


@pytest.mark.parametrize("last", [False, True])
def test_other_blocks_before_or_behind_stay_as_they_are(last: bool):
    odd = BLOCKS - 1 if last else 0
    proto = blocks(lambda k, block: block.replace("Tanh", "Erf") if k == odd else block)
    assert loops(proto) == 1
    both(proto, feeds(4))


DIFFERENT: dict[str, tuple[Change, Sequence[str]]] = {
    "a result in the middle": (same, ["i5"]),
    "a carried value in the middle": (same, ["x6"]),
    "a longer way back": (lambda k, block: block.replace(f"c{k}, mask", f"c{k}, c{k // 2}"), ()),
    "the block before the last": (
        lambda k, block: block.replace(f"h{k}, c{k}", f"h{k}, c{max(0, k - 2)}"),
        (),
    ),
    "an attribute": (lambda k, block: block.replace("axis = -1> (e", "axis = 0> (e") if k in ODD else block, ()),
    "the order of operands": (lambda k, block: block.replace(f"n{k}, d{k}", f"d{k}, n{k}") if k in ODD else block, ()),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_blocks_that_differ_are_no_loop(what: str):
    change, outputs = DIFFERENT[what]
    proto = blocks(change, outputs)
    assert loops(proto) == 0
    both(proto, feeds(4))


def test_zeros_of_both_signs_are_different_attributes():
    block = BLOCK.replace("e{k} = Sub(n", "o{k} = Elu <alpha = A> (n{k}) e{k} = Sub(o")
    proto = blocks(lambda k, text: text.replace("alpha = A", f"alpha = {'-0.0' if k in ODD else '0.0'}"), block=block)
    assert loops(proto) == 0
    both(proto, feeds(4))


INNER = BLOCK.replace(
    "d{k} = Mul(c{k}, mask)",
    """d{k} = Loop (trips, yes, c{k}) <body = step{k} (int64 j{k}, bool on{k}, float[b{k}, c{k}] s{k})
        => (bool on2{k}, float[b2{k}, c2{k}] t{k}) {{
        on2{k} = Identity(on{k})
        t{k} = Mul(s{k}, mask)
    }}>""",
)
COUNTED = MASKED + " yes = Constant <value = bool {1}> () shape = Shape <end = 1> (m) trips = Squeeze(shape)"


def test_blocks_with_loops_inside_become_a_loop():
    proto = blocks(before=COUNTED, block=INNER)
    assert loops(proto) == 2
    both(proto, feeds(4))


BRANCHED = BLOCK.replace(
    "d{k} = Mul(c{k}, mask)",
    """d{k} = If (positive) <then_branch = yes{k} () => (p{k}) {{ p{k} = Mul(c{k}, bias{k}) }},
        else_branch = no{k} () => (q{k}) {{ q{k} = Neg(c{k}) }}>""",
)
DECIDED = (
    MASKED + " sum = ReduceSum <keepdims = 0> (m) nought = Constant <value = float {0}> () positive = Less(nought, sum)"
)


def test_blocks_with_branches_inside_become_a_loop():
    proto = blocks(before=DECIDED, block=BRANCHED)
    assert loops(proto) == 1
    both(proto, feeds(4))
    both(proto, {name: -x for name, x in feeds(4).items()})


def test_loop_over_blocks_is_no_iteration_of_the_model():
    made = session(blocks(), max_iterations=2)
    assert made.run(None, feeds(3))[0].shape == (3, WIDTH)


def test_error_names_the_node_of_its_block():
    block = BLOCK.replace("d{k} = Mul(c{k}, mask)", "[take{k}] d{k} = Gather <axis = 0> (c{k}, rows{k})")
    before = MASKED + "".join(
        f" last{k} = ReduceMax <keepdims = 0> (limit{k}) rows{k} = Cast <to = 7> (limit{k})" for k in range(BLOCKS)
    )
    proto = blocks(before=before, block=block)
    for k in range(BLOCKS):
        rows = np.arange(3, dtype=np.float32) + (2 if k == 8 else 0)
        proto.graph.initializer.append(numpy_helper.from_array(rows, f"limit{k}"))
    messages = []
    for backend in ("interpreter", "native"):
        with pytest.raises(whorl.RunError) as caught:
            session(proto, backend).run(None, feeds(3))
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "take8" in messages[0]


def test_programs_of_other_lengths_share_the_stacked_weights():
    region, folded = whorl.load(blocks()).main, Folded()
    graphs = [
        lower_graph(region, region.arguments, folded, takes_lengths=True, lengths=lengths, joins_blocks=True)
        for lengths in ({"batch": 3}, {"batch": 4})
    ]
    stacks = [[x for x in graph.arrays if x.ndim and x.shape[0] == BLOCKS] for graph in graphs]
    assert len(stacks[0]) == 4 and all(a is b for a, b in zip(*stacks, strict=True))


@pytest.mark.parametrize("before_and_block", [(MASKED, BLOCK), (COUNTED, INNER)], ids=["nests", "loops inside"])
def test_several_cores_give_the_bits_of_one(before_and_block: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    share_everything(monkeypatch)
    before, block = before_and_block
    data = blocks(before=before, block=block).SerializeToString()
    for batch in (1, 5, 40):
        expected = results(data, 1, feeds(batch))
        for threads in (2, 3, 8):
            for x, y in zip(expected, results(data, threads, feeds(batch)), strict=True):
                np.testing.assert_array_equal(x, y)


def test_blocks_are_shared_by_cores_as_what_is_in_no_loop():
    """Nests of lengths that only a run knows are shared outside of loops alone, as there may be too many inside."""
    region = whorl.load(blocks()).main
    shared = []
    for joins in (False, True):
        program = lower_graph(region, region.arguments, takes_lengths=True, joins_blocks=joins).program
        spread(program)
        shared.append(sum(isinstance(statement, Spread) for statement in all_statements(program.body)))
    assert shared[1] >= shared[0] // BLOCKS > 0


class Lazy:
    """An array whose text does not tell its elements."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.dtype, self.shape = array, array.dtype, array.shape

    def __repr__(self) -> str:
        return "lazy"

    def numpy(self) -> np.ndarray:
        return self.array


SHIFTED = INNER.replace(
    "t{k} = Mul(s{k}, mask)", "shift{k} = Constant <value_float = 1.0> () t{k} = Add(s{k}, shift{k})"
)


@pytest.mark.parametrize("is_lazy", [False, True])
@pytest.mark.parametrize("differ", [False, True])
def test_blocks_whose_bodies_have_other_constants_are_no_loop(differ: bool, is_lazy: bool) -> None:
    """The arrays differ in the middle alone, which the text of a large one leaves out."""
    region, seen = whorl.load(blocks(before=COUNTED, block=SHIFTED)).main, 0
    for node in walk(region):
        if isinstance(node.op, Constant) and node.outputs[0].name.startswith("shift"):
            array = np.ones((400, 6), np.float32)
            array[200] = seen if differ else 1
            node.op, seen = Constant(Lazy(array) if is_lazy else array), seen + 1
    assert seen == BLOCKS
    assert reroll(region, lambda arrays: np.stack([as_array(x) for x in arrays])) is not (differ or is_lazy)
