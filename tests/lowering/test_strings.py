"""Strings as numbers: which ops take them, what gets a number, and which programs have none."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.ir.graph import Region, walk
from whorl.ir.types import TensorType
from whorl.ir.walk import clone_region
from whorl.lowering.expressions import Unsupported
from whorl.lowering.strings import StringNumbers, can_number_strings, has_strings, number_strings


def region(text: str) -> Region:
    return clone_region(whorl.load(model(text)).main)


CHOSEN = """main (string[n] x, string[n] y, bool[n] c) => (string[n] z, bool[n] e) {
    word = Constant<value_strings = ["no", ""]>()
    i = Constant<value = int64 {0}>()
    no = Gather(word, i)
    z = Where(c, x, no)
    e = Equal(x, y)
}"""


def test_strings_become_int64_and_constants_their_numbers() -> None:
    made = region(CHOSEN)
    strings = number_strings(made)
    assert strings is not None
    assert (strings.texts, strings.inputs, strings.outputs) == (("", "no"), (0, 1), (0,))
    assert [v.type.dtype.name for v in made.arguments if isinstance(v.type, TensorType)] == ["int64", "int64", "bool"]
    values = [node.op.value for node in made.nodes if node.op.name == "Constant"]
    assert [1, 0] in [np.asarray(value).tolist() for value in values]


def test_only_inputs_of_the_program_count() -> None:
    strings = number_strings(region(CHOSEN))
    assert strings is not None
    assert strings.of((2, 1)).inputs == (1,)


def test_region_of_numbers_has_no_strings() -> None:
    assert number_strings(region("main (float[n] x) => (float[n] y) { y = Neg(x) }")) is None


def test_strings_in_branches_have_numbers() -> None:
    made = region("""main (bool c, string[n] x) => (string[n] y) {
        y = If (c) <then_branch = t () => (string[n] a) { a = Identity(x) },
                    else_branch = f () => (string[n] b) { b = Identity(x) }>
    }""")
    assert number_strings(made) is not None
    assert not any(map(has_strings, (v for node in walk(made) for v in node.outputs)))


def test_op_that_reads_texts_is_refused_with_its_node() -> None:
    made = region("main (string[n] x) => (string[n] y, string[n] z) { y = Identity(x) z = StringConcat(x, y) }")
    with pytest.raises(Unsupported, match="StringConcat reads what strings say") as caught:
        number_strings(made)
    assert caught.value.node is made.nodes[-1]


def test_order_has_no_numbers() -> None:
    texts = "main (string[n] x) => (string[m] y) {{ y = Unique<sorted = {}>(x) }}"
    assert number_strings(region(texts.format(0))) is not None
    with pytest.raises(Unsupported, match="Unique"):
        number_strings(region(texts.format(1)))


def test_equal_strings_have_one_number() -> None:
    numbers = StringNumbers()
    assert numbers.of_array(np.array([["a", ""], ["b", "a"]], object)).tolist() == [[1, 0], [2, 1]]
    assert numbers.known == {"": 0, "a": 1, "b": 2}


def test_ops_that_move_or_look_up_can_do_with_numbers() -> None:
    (concat,) = region("main (string[n] x) => (string[m] y) { y = Concat<axis = 0>(x, x) }").nodes
    (lower,) = region("main (string[n] x) => (string[m] y) { y = StringNormalizer(x) }").nodes
    assert can_number_strings(concat.op)
    assert not can_number_strings(lower.op)
