"""What edits add: outputs with names of their own, and captured values."""

from __future__ import annotations

import numpy as np
from onnx_text import ROLLOUT
from traced_models import NESTED, X

import whorl
from whorl.ir.verify import verify
from whorl.ops.elementwise.arithmetic import Add
from whorl.passes.expose.adding import Captures, add, add_output, complete_outputs, constant, flat, retype
from whorl.passes.expose.scopes import scopes_of


def test_output_may_be_an_input_and_gets_a_free_name() -> None:
    module = whorl.load(ROLLOUT)
    module.output_names[0] = "exposed_1"
    name = add_output(module, flat(module.main, module.main.arguments[0]))
    other = add_output(module, module.main.arguments[1])
    retype(module)
    verify(module)
    assert (name, other) == ("exposed_2", "exposed_3")
    feeds = {"count": np.array(2), "table": np.arange(12, dtype=np.float32)}
    assert whorl.InferenceSession(module).run([name], feeds)[0].tolist() == [2]


def test_value_of_an_outer_body_is_captured_once_on_the_way_in() -> None:
    module = whorl.load(NESTED)
    scopes = scopes_of(module)
    captures = Captures()
    number = scopes[1].region.arguments[0]
    first, again = (captures.bring(scopes[3], number, scopes[1]) for _ in range(2))
    assert first is again and first.owner is scopes[3].region
    retype(module)
    verify(module)


def test_constant_comes_before_what_is_there() -> None:
    module = whorl.load(ROLLOUT)
    value = constant(module.main, np.ones(2, np.float32))
    total = add(module.main, Add(), value, value)
    assert module.main.nodes[0] is value.owner and module.main.nodes[-1] is total.owner


def test_outputs_that_were_left_out_are_added() -> None:
    node = scopes_of(whorl.load(NESTED))[1].node
    assert node is not None
    node.outputs.pop()
    complete_outputs(node)
    assert [value.name for value in node.outputs] == ["y", "exposed"]
    assert X.size == 3
