"""Which nodes of constants a session folds."""

import pytest
from onnx_text import model

import whorl
from whorl.ir.constants import Constant
from whorl.ir.graph import Module
from whorl.ir.verify import verify
from whorl.passes.context import Context, PassOptions
from whorl.passes.fold_small import GROWTH, SMALL, fold_small


def folded(text: str, **options) -> Module:
    module = whorl.load(model(text))
    fold_small(module, Context(module, PassOptions(**options)))
    verify(module)
    return module


def left(module: Module) -> list[str]:
    """The ops of all regions that are no constants."""
    return [node.op.name for node in module.nodes() if not isinstance(node.op, Constant)]


NUMBERS = """
    two = Constant <value = float {2}> ()
    four = Mul (two, two)
    eight = Mul (four, two)"""


def test_chain_of_constants_is_computed_and_what_it_read_goes():
    module = folded(f"main (float x) => (float y) {{ {NUMBERS} y = Add (x, eight) }}")
    assert left(module) == ["Add"]
    assert len(module.main.nodes) == 2
    (constant,) = [node for node in module.main.nodes if isinstance(node.op, Constant)]
    assert (constant.title, constant.op.value.tolist()) == ("Constant 'eight'", 8)


def test_constant_is_computed_inside_a_body_too():
    module = folded(f"""
        main (int64 n, float x) => (float y) {{
            y = Loop (n, , x) <body = b (int64 i, bool c, float s) => (bool d, float t) {{
                d = Identity (c) {NUMBERS} t = Add (s, eight)
            }}>
        }}""")
    assert left(module) == ["Loop", "Identity", "Add"]


@pytest.mark.parametrize("elements", [GROWTH // 4, GROWTH // 4 + 3])
def test_result_may_be_little_larger_than_its_operands(elements):
    """Of float32; the shape itself has 8 bytes."""
    shape = f"shape = Constant <value = int64[1] {{{elements}}}> () v = ConstantOfShape (shape)"
    module = folded(f"main (float[{elements}] x) => (float[{elements}] y) {{ {shape} y = Add (x, v) }}")
    assert left(module) == (["Add"] if 4 * elements <= GROWTH + 8 else ["ConstantOfShape", "Add"])


def test_large_constant_is_left_to_the_run():
    size = SMALL // 4 + 1
    shape = f"shape = Constant <value = int64[1] {{{size}}}> () v = ConstantOfShape (shape) w = Neg (v)"
    assert left(folded(f"main () => (float[{size}] w) {{ {shape} }}")) == ["ConstantOfShape", "Neg"]


def test_failing_node_remains():
    numbers = "one = Constant <value = int64 {1}> () zero = Constant <value = int64 {0}> ()"
    assert left(folded(f"main () => (int64 y) {{ {numbers} y = Div (one, zero) }}")) == ["Div"]


def test_random_node_remains():
    assert left(folded("main () => (float[2] y) { y = RandomNormal <shape = [2]> () }")) == ["RandomNormal"]


def test_shape_that_only_inference_knows_remains():
    """A named dim may differ between inputs, which inference takes for equal."""
    text = """
        main (float[N] x, float[N] z) => (int64[1] d) {
            a = Shape (x)
            b = Shape (z)
            d = Sub (a, b)
        }"""
    assert left(folded(text)) == ["Shape", "Shape", "Sub"]


def test_lengths_that_follow_from_a_folded_shape_are_inferred():
    module = folded("""
        main (float[6] x, float[2, 3] z) => (y) {
            ones = Constant <value = float[2, 3] {1, 1, 1, 1, 1, 1}> ()
            where = NonZero (ones)
            flat = Shape (where)
            y = ConstantOfShape (flat)
        }""")
    assert str(module.main.results[0].type) == "float32[2, 6]"


def test_several_outputs_become_a_constant_each():
    module = folded("""
        main (float x) => (float[1] a, float[1] b) {
            pair = Constant <value = float[2] {1, 2}> ()
            a, c = Split <num_outputs = 2> (pair)
            b = Add (c, x)
        }""")
    assert left(module) == ["Add"]


def test_limit_counts_each_fold():
    assert left(folded(f"main (float x) => (float y) {{ {NUMBERS} y = Add (x, eight) }}", limit=1)) == ["Mul", "Add"]
