"""What may be computed where it was not before: nodes that cannot fail, and values that can be selected."""

import numpy as np
import pytest
from passes.programs import read
from passes.unroll.programs import check_results, reason

from whorl.passes.unroll.legality import CannotUnroll, require_same_type, require_speculatable, require_unseeded

ARGUMENTS = "%c: bool[], %x: float32[N], %y: float32[M], %z: float32[3], %n: int64[3], %s: string[3]"
FREE = {
    "function_at_any_length": "%r: float32[N] = Exp(%x)",
    "function_at_any_rank": "%u: float32[*] = Exp(%x)\n%r: float32[*] = Neg(%u)",
    "operands_of_one_name": "%r: float32[N] = Add(%x, %x)",
    "operand_of_one_element": "%k: float32[1] = Constant() {value = float32[1] <2>}\n%r: float32[N] = Mul(%x, %k)",
    "pieces_of_any_lengths": "%r: float32[N+M] = Concat(%x, %y) {axis = 0}",
    "sum_of_any_length": "%r: float32[1] = ReduceSum(%x)",
    "index_within_fixed_bounds": "%i: int64[] = Constant() {value = int64[] <-3>}\n%r: float32[] = Gather(%z, %i)",
    "index_within_text": "%i: int64[] = Constant() {value = int64[] <2>}\n%r: string[] = Gather(%s, %i)",
    "divisor_without_zeros": "%k: int64[] = Constant() {value = int64[] <-2>}\n%r: int64[3] = Div(%n, %k)",
    "index_that_is_clipped": """%l: int64[] = Constant() {value = int64[] <0>}
      %h: int64[] = Constant() {value = int64[] <2>}
      %i: int64[3] = Clip(%n, %l, %h)
      %r: float32[3] = Gather(%z, %i)""",
    "filling_of_named_lengths": "%l: int64[1] = Shape(%x)\n%r: float32[N] = ConstantOfShape(%l)",
    "expansion_to_named_lengths": """%l: int64[1] = Shape(%x)
      %k: float32[1] = Constant() {value = float32[1] <2>}
      %r: float32[N] = Expand(%k, %l)""",
    "numbers_of_rows": """%l: int64[1] = Shape(%x)
      %k: int64[1] = Constant() {value = int64[1] <1>}
      %r: int64[N] = Range(%k, %l, %k)""",
    "op_that_does_not_say_whether_it_fails": "%r: int64[1, k] = NonZero(%z)",
}
CHOICE = """%r: float32[3] = If(%c, %z{0})
      then_branch(%a: float32[3]{1}) {{
        {2}
        return %b
      }}
      else_branch(%a: float32[3]{1}) {{ return %a }}"""
FREE["branches_that_cannot_fail"] = CHOICE.format("", "", "%b: float32[3] = Exp(%a)")
FREE["captured_values_that_branches_add"] = CHOICE.format(
    ", %c", ", %d: bool[]", "%f: float32[] = Cast(%d) {to = float32}\n%b: float32[3] = Add(%a, %f)"
)
RISKY = {
    "lengths_of_two_names": ("Add", "%r: float32[N] = Add(%x, %y)"),
    "name_and_number": ("Mul", "%r: float32[N] = Mul(%x, %z)"),
    "inner_lengths_of_two_names": ("MatMul", "%r: float32[] = MatMul(%x, %y)"),
    "index_beyond_some_lengths": (
        "Gather",
        "%i: int64[] = Constant() {value = int64[] <7>}\n%r: float32[] = Gather(%x, %i)",
    ),
    "first_element_of_what_may_be_empty": (
        "Gather",
        "%i: int64[] = Constant() {value = int64[] <0>}\n%r: float32[] = Gather(%x, %i)",
    ),
    "text_beyond_the_last": (
        "Gather",
        "%i: int64[] = Constant() {value = int64[] <0>}\n%t: string[0] = Constant() {value = string[0] <>}\n"
        "%r: string[] = Gather(%t, %i)",
    ),
    "row_to_write_that_other_lengths_do_not_have": (
        "ScatterND",
        """%i: int64[1, 1] = Constant() {value = int64[1, 1] <-1>}
        %k: float32[1] = Constant() {value = float32[1] <2>}
        %r: float32[N] = ScatterND(%x, %i, %k)""",
    ),
    "index_of_the_run": ("Gather", "%r: float32[3] = Gather(%z, %n)"),
    "size_that_other_lengths_do_not_have": (
        "Reshape",
        "%i: int64[2] = Constant() {value = int64[2] <2 2>}\n%r: float32[2, 2] = Reshape(%x, %i)",
    ),
    "size_of_the_run": ("Expand", "%r: float32[a, b, c] = Expand(%z, %n)"),
    "divisor_of_the_run": ("Mod", "%r: int64[3] = Mod(%n, %n)"),
    "length_that_may_be_negative": (
        "ConstantOfShape",
        """%l: int64[1] = Shape(%x)
        %k: int64[1] = Constant() {value = int64[1] <12>}
        %m: int64[1] = Sub(%k, %l)
        %r: float32[m] = ConstantOfShape(%m)""",
    ),
    "length_that_others_do_not_broadcast_to": (
        "Expand",
        "%l: int64[1] = Shape(%x)\n%r: float32[m] = Expand(%z, %l)",
    ),
    "length_as_an_index": ("Gather", "%l: int64[1] = Shape(%x)\n%r: float32[1] = Gather(%z, %l)"),
    "length_as_a_divisor": ("Div", "%l: int64[1] = Shape(%x)\n%r: int64[3] = Div(%n, %l)"),
    "length_as_a_step": (
        "Range",
        """%l: int64[1] = Shape(%x)
        %k: int64[1] = Constant() {value = int64[1] <9>}
        %r: int64[m] = Range(%l, %k, %l)""",
    ),
    "exponent_of_the_run": ("Pow", "%r: int64[3] = Pow(%n, %n)"),
    "divisor_with_a_zero": (
        "Div",
        "%k: int64[3] = Constant() {value = int64[3] <1 0 2>}\n%r: int64[3] = Div(%n, %k)",
    ),
    "branch_that_may_fail": (
        "If",
        CHOICE.format(", %n", ", %m: int64[3]", "%b: float32[3] = Gather(%a, %m)"),
    ),
    "text_that_may_be_no_number": ("Cast", "%r: float32[3] = Cast(%s) {to = float32}"),
}


def region(body: str):
    return read(f"main({ARGUMENTS}) {{\n{body}\n  return r = %r\n}}").main


@pytest.mark.parametrize("body", FREE.values(), ids=FREE)
def test_node_that_cannot_fail_may_run_anywhere(body):
    require_speculatable(region(body))


@pytest.mark.parametrize(("op", "body"), RISKY.values(), ids=RISKY)
def test_node_that_may_fail_is_refused(op, body):
    with pytest.raises(CannotUnroll) as caught:
        require_speculatable(region(body))
    assert str(caught.value) == f"{op} 'r' may fail on values that it does not see now"


@pytest.mark.parametrize(
    ("case", "lengths"),
    [
        ("lengths_of_two_names", ["M", "N"]),
        ("index_beyond_some_lengths", ["N"]),
        ("index_of_the_run", []),
        ("size_that_other_lengths_do_not_have", []),
    ],
)
def test_refusal_names_the_lengths_that_would_help(case, lengths):
    with pytest.raises(CannotUnroll) as caught:
        require_speculatable(region(RISKY[case][1]))
    assert caught.value.lengths == lengths


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("%r: float32[3] = RandomNormalLike(%z)", "RandomNormalLike 'r' is random, and would draw where it did not"),
        (
            CHOICE.format("", "", "%b: float32[3] = RandomNormalLike(%a)"),
            "RandomNormalLike 'b' is random, and would draw where it did not",
        ),
        ("%r: seq(float32[3]) = SequenceConstruct(%z)", "SequenceConstruct 'r' works on a sequence or optional"),
    ],
)
def test_draws_and_collections_are_refused(body, why):
    with pytest.raises(CannotUnroll) as caught:
        require_speculatable(region(body))
    assert str(caught.value) == why


def test_seed_inside_a_branch_is_seen():
    body = """%r: float32[3] = If(%c, %z)
    then_branch(%a: float32[3]) {
      %d: float32[3] = RandomUniformLike(%a) {seed = 1.0}
      return %d
    }
    else_branch(%a: float32[3]) {
      return %a
    }"""
    with pytest.raises(CannotUnroll) as caught:
        require_unseeded(region(body))
    assert str(caught.value) == ("RandomUniformLike 'd' draws from a seed, and copies of it would all draw the same")
    require_unseeded(region(body.replace(" {seed = 1.0}", "")))


def test_values_of_two_names_are_not_of_one_type():
    x, y, z = region("%r: float32[N] = Exp(%x)").arguments[1:4]
    require_same_type(x, x, "output 0")
    for a, b, why in ((x, y, "float32[N] or float32[M]"), (z, x, "float32[3] or float32[N]")):
        with pytest.raises(CannotUnroll) as caught:
            require_same_type(a, b, "output 0")
        assert str(caught.value) == f"output 0 is {why}"


BRANCH = """main(%c: bool[], %x: float32[N], %y: float32[N]) {{
  %r: float32[] = If(%c, %x, %y)
  then_branch(%a: float32[N], %b: float32[N]) {{
    {body}
    %t: float32[] = ReduceSum(%s) {{keepdims = 0}}
    return %t
  }}
  else_branch(%a: float32[N], %b: float32[N]) {{
    %t: float32[] = ReduceSum(%a) {{keepdims = 0}}
    return %t
  }}
  return r = %r
}}"""


def test_branch_that_is_not_taken_does_not_fail_at_lengths_that_do_not_fit():
    """Two inputs of one name may come with other lengths; a product of vectors of two names stays a branch."""
    ones = [np.ones(n, np.float32) for n in (3, 2)]
    fine = BRANCH.format(body="%s: float32[N] = Neg(%b)")
    check_results(fine, {"c": False, "x": ones[0], "y": ones[1]}, {"c": True, "x": ones[0], "y": ones[1]})
    other = BRANCH.replace("%y: float32[N]", "%y: float32[M]").replace("%b: float32[N]", "%b: float32[M]")
    assert reason(other.format(body="%s: float32[N] = Add(%a, %b)")) == (
        "Add 's' may fail on values that it does not see now"
    )
