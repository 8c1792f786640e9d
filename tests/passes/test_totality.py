"""Which ops say that they cannot fail, and that they do not."""

import numpy as np
import pytest
from fuzz.cells import all_forms
from fuzz.elements import SPECIAL, draw, limits_of
from fuzz.forms import OPSET, Form, onnx_type, shape
from onnx import helper, numpy_helper
from onnx_text import model

import whorl
from whorl.ir.constants import Constant
from whorl.ir.dtypes import BOOL, is_float
from whorl.ir.types import TensorType
from whorl.passes.rules.conditions import static_shape
from whorl.passes.totality import Totality

TOTAL = {
    "product": "r = MatMul(x, y)",
    "join": "r = Concat <axis = 0> (x, y)",
    "function": "r = Log(x)",
    "division_of_floats": "r = Div(x, y)",
    "reduction": "r = ReduceMax(x)",
    "distribution": "r = Softmax(x)",
    "index": "i = Constant <value = int64[2] {-3, 2}> () r = Gather(x, i)",
    "index_in_range": """
        low = Constant <value = int64 {0}> () high = Constant <value = int64 {2}> ()
        i = Clip(n, low, high) r = Gather(x, i)""",
    "tuples_of_indices": "i = Constant <value = int64[1, 2] {2, -3}> () r = GatherND(x, i)",
    "indices_of_elements": "i = Constant <value = int64[2, 3] {0, 1, 2, 2, -3, 0}> () r = GatherElements(x, i)",
    "rows_to_write": "i = Constant <value = int64[3, 1] {-3, 0, 2}> () r = ScatterND(x, i, y)",
    "elements_to_write": """
        i = Constant <value = int64[3, 3] {0, 1, 2, 0, 1, 2, 0, 1, 2}> () r = ScatterElements(x, i, y)""",
    "condition_of_no_more_elements": "c = Constant <value = bool[2] {1, 1}> () r = Compress <axis = 0> (x, c)",
    "mirrored_elements": 'p = Constant <value = int64[4] {1, 1, 0, 0}> () r = Pad <mode = "reflect"> (x, p)',
    "turned_sequences": "l = Constant <value = int64[3] {0, 1, 3}> () r = ReverseSequence(x, l)",
    "division_by_a_constant": "c = Constant <value = int64[2] {3, -1}> () r = Div(n, c)",
    "power": "c = Constant <value = int64 {2}> () r = Pow(n, c)",
    "reshape": "s = Constant <value = int64[1] {9}> () r = Reshape(x, s)",
    "range_of_rows": """
        s = Shape(x) zero = Constant <value = int64 {0}> () rows = Gather(s, zero)
        step = Constant <value = int64 {-2}> () r = Range(rows, zero, step)""",
    "cast_to_whole_numbers": "r = Cast <to = 7> (x)",
    "branch": "r = If (b) <then_branch = t () => (e) { e = Exp(x) }, else_branch = o () => (l) { l = Log(x) }>",
}
PARTIAL = {
    "division": "r = Div(n, m)",
    "remainder": "r = Mod(n, m)",
    "power": "r = Pow(n, m)",
    "division_by_a_constant": "c = Constant <value = int64[2] {3, 0}> () r = Div(n, c)",
    "index": "r = Gather(x, n)",
    "index_outside": "i = Constant <value = int64[2] {0, 3}> () r = Gather(x, i)",
    "tuples_of_indices_outside": "i = Constant <value = int64[1, 2] {2, 3}> () r = GatherND(x, i)",
    "indices_of_more_elements": "i = Constant <value = int64[1, 4] {0, 1, 2, 2}> () r = GatherElements(x, i)",
    "indices_of_elements_outside": "i = Constant <value = int64[1, 1] {3}> () r = GatherElements(x, i)",
    "elements_to_write": "i = Constant <value = int64[1, 1] {3}> () r = ScatterElements(x, i, one)",
    "rows_to_write": "r = ScatterND(x, at, y)",
    "condition_of_more_elements": "c = Constant <value = bool[4] {1, 0, 0, 1}> () r = Compress <axis = 0> (x, c)",
    "mirrored_nothing": 'p = Constant <value = int64[2] {1, 1}> () r = Pad <mode = "reflect"> (none, p)',
    "resized_nothing": "s = Constant <value = int64[1] {3}> () r = Resize(none, , , s)",
    "turned_sequences_too_long": "l = Constant <value = int64[3] {0, 4, 3}> () r = ReverseSequence(x, l)",
    "reshape": "r = Reshape(x, n)",
    "range_without_a_step": "c = Constant <value = int64 {0}> () r = Range(c, c, c)",
    "range_to_any_number": "c = Constant <value = int64 {1}> () r = Range(c, t, c)",
    "open_length": "r = Add(open, x)",
    "random": "r = RandomNormalLike(x)",
    "extreme_of_nothing": "r = ArgMax(none)",
    "text": "r = Equal(text, text)",
    "branch": "r = If (b) <then_branch = t () => (e) { e = Div(n, m) }, else_branch = o () => (l) { l = Neg(n) }>",
    "loop": """r = Loop (t, , x) <body = b (int64 i, bool c, float[3, 3] s) => (bool d, e) {
        d = Identity(c) e = Exp(s) }>""",
}
ARGUMENTS = """float[3, 3] x, float[3, 3] y, int64[2] n, int64[2] m, int64 t, bool b, float[N, 3] open, float[0] none,
    string[2] text, int64[3, 1] at, float[1, 1] one"""


def last_node(body):
    return whorl.load(model(f"main ({ARGUMENTS}) => (r) {{ {body} }}")).main.nodes[-1]


@pytest.mark.parametrize("body", TOTAL.values(), ids=TOTAL)
def test_op_that_cannot_fail_says_so(body):
    assert Totality().is_total(last_node(body))


@pytest.mark.parametrize("body", PARTIAL.values(), ids=PARTIAL)
def test_op_that_may_fail_does_not_say_that_it_cannot(body):
    assert not Totality().is_total(last_node(body))


LENGTHS = [dict.fromkeys("NMKLPQRHW", 4), {"N": 0, "M": 1, "K": 3, "L": 2, "P": 1, "Q": 3, "R": 2, "H": 5, "W": 4}]


def node_of(form: Form, dtype: str, lengths: dict[str, int]):
    """The node of a form; operands whose elements the form fixes are constants."""
    inputs, constants, names = [], [], []
    for k, operand in enumerate(form.operands):
        names.append("" if operand is None else f"x{k}")
        if operand is None:
            continue
        type = operand.dtype or dtype
        dims = shape(operand.dims, lengths)
        if operand.draw.partition(" ")[0] in ("lengths", "is"):
            array = draw(np.random.default_rng(0), type, dims, operand.draw, lengths, 0)
            constants.append(numpy_helper.from_array(array, names[-1]))
        else:
            inputs.append(helper.make_tensor_value_info(names[-1], onnx_type(type), dims))
    types = form.result_dtypes(dtype)
    outputs = [helper.make_tensor_value_info(f"y{k}", onnx_type(t), None) for k, t in enumerate(types)]
    node = helper.make_node(form.op, names, [value.name for value in outputs], **form.attributes(dtype))
    graph = helper.make_graph([node], "main", inputs, outputs, constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11)
    return whorl.load(proto).main.nodes[-1]


def extremes(type: TensorType, rng: np.random.Generator) -> np.ndarray:
    """A tensor of what ops may trip over: zeros, infinities, NaN, the ends of the integers."""
    dims = static_shape(type)
    if type.dtype == BOOL:
        return rng.random(dims) < 0.5
    if is_float(type.dtype):
        with np.errstate(all="ignore"):
            return rng.choice([*SPECIAL, -2.5, 3e30], dims).astype(type.dtype)
    return rng.choice(np.array([0, 1, *limits_of(type.dtype)], object), dims).astype(type.dtype)


def forms_alone() -> list[tuple[Form, str]]:
    """Each form with each element type, where all operands and results are tensors."""
    plain = [f for f in all_forms() if not f.sequence and all(o is None or is_plain(o) for o in f.operands)]
    return [(form, dtype) for form in plain for dtype in form.dtypes()]


def is_plain(operand) -> bool:
    """Whether an operand is a tensor whose lengths are numbers once those of the letters are chosen."""
    return not operand.sequence and "?" not in operand.dims


def test_no_element_makes_a_total_op_fail():
    rng, kinds = np.random.default_rng(0), set()
    for form, dtype in forms_alone():
        for lengths in LENGTHS:
            try:
                node = node_of(form, dtype, lengths)
            except whorl.WhorlError:
                continue
            if isinstance(node.op, Constant) or not Totality().is_total(node):
                continue
            kinds.add(type(node.op).__name__)
            for _ in range(3):
                arrays = [operand_of(value, rng) for value in node.inputs]
                with np.errstate(all="ignore"):
                    node.op.run(*arrays)
    assert {"MatMul", "Gemm", "Concat", "Softmax", "ReduceMean", "Add", "Where", "Conv", "LayerNormalization"} <= kinds
    assert len(kinds) > 100, sorted(kinds)


def operand_of(value, rng):
    if value is None:
        return None
    if hasattr(value.owner, "op"):
        return value.owner.op.run()
    return extremes(value.type, rng)
