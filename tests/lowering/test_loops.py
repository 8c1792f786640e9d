"""A Loop as one program: where its values lie, and what has no such form."""

import numpy as np
import pytest
from passes.programs import read

from whorl.ir.graph import Node
from whorl.kernel.interpret import interpret
from whorl.kernel.verify import verify_program
from whorl.lowering.expressions import Unsupported
from whorl.lowering.loops import LoopProgram, lower_loop

LOOP = """main(%n: int64[], %x: {x}, %k: float32[], %v: float32[{rows}]) {{
  %y: {x}, %z: int64[], %all: float32[n, {rows}] = Loop(%n, {condition}, %x, %n, %k, %v)
    {{carried = 2, collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: {x}, %c: int64[], %f: float32[], %w: float32[{rows}]) {{
    {body}
    %d: int64[] = Add(%c, %i)
    %e: float32[{rows}] = Mul(%w, %f)
    return {go}, %t, %d, %e
  }}
  return y = %y, z = %z, all = %all
}}"""


def loop(**fields: str) -> Node:
    text = LOOP.format(
        **{"x": "float32[3]", "rows": "2", "condition": "_", "body": "%t: float32[3] = Mul(%s, %f)", "go": "%g"}
        | fields
    )
    (node,) = (node for node in read(text).main.nodes if node.regions)
    return node


def lowered(fixed: float | None = None, **fields: str) -> LoopProgram:
    node = loop(**fields)
    program = lower_loop(node, [None if fixed is None else np.array(fixed, np.float32), None])
    verify_program(program.program)
    return program


def test_buffers_come_in_their_order_and_single_values_in_registers():
    program = lowered()
    names = [buffer.name for buffer in program.program.buffers]
    assert names == ["s.now", "s.next", "c.now", "c.next", "f.in", "w.in", "out0"] and program.captured == [0, 1]
    assert [scalar.name for scalar in program.program.scalars] == ["i", "stop", "go"]
    assert [str(type) for type in (*program.carried, *program.collected)] == ["float32[3]", "int64[]", "float32[2]"]
    assert program.lengths == [{}, {}] and not program.may_fail and not program.free
    assert program.cells == len(names) + len(program.program.scratch) + 2


def test_fixed_number_is_in_the_code():
    program = lowered(fixed=0.5)
    assert program.captured == [1] and "0.5" in str(program.program)


@pytest.mark.parametrize("stop", [0, 1, 3])
def test_program_runs_from_any_iteration_to_any(stop):
    program = lowered(fixed=2.0).program
    arrays = [
        np.array([1, -0.0, np.nan], np.float32),
        np.zeros(3, np.float32),
        np.array(10),
        np.array(0),
        np.array([3, 4], np.float32),
        np.zeros((3, 2), np.float32),
    ]
    first = interpret(program, [0, stop, True], arrays)
    outcome = interpret(program, [stop, 3, True], first.arrays)
    assert outcome.scalars == [3, 3, True] and outcome.arrays[2] == 13
    np.testing.assert_array_equal(outcome.arrays[0], np.array([8, -0.0, np.nan], np.float32))
    np.testing.assert_array_equal(outcome.arrays[-1], np.tile(np.array([6, 8], np.float32), (3, 1)))


def test_length_that_an_iteration_adds_to_is_counted():
    program = lowered(x="float32[N]", body="%t: float32[N+3] = Concat(%s, %s) {axis = 0}")
    assert [list(lengths) for lengths in program.lengths] == [[0], []]
    assert [scalar.name[:3] for scalar in program.program.scalars][3:] == ["len"]
    assert program.program.growing and program.cells > len(program.program.buffers) + 2


REFUSED = {
    "random": (
        {"body": "%t: float32[3] = RandomNormalLike(%s)"},
        "RandomNormalLike is not pure and has no native form",
    ),
    "text": ({"x": "string[3]", "body": "%t: string[3] = StringConcat(%s, %s)"}, "carried value 's'"),
    "captured": ({"rows": "N"}, "the shape of captured value 'w' changes or is not known"),
}


@pytest.mark.parametrize(("fields", "reason"), REFUSED.values(), ids=REFUSED)
def test_loop_without_a_form_says_why(fields, reason):
    with pytest.raises(Unsupported, match=reason):
        lowered(**fields)
