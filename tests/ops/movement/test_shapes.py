"""Shape, Size, Reshape, Flatten, Squeeze, Unsqueeze, Expand: values, inferred shapes, and the shapes they pass on."""

import numpy as np
import onnx
import pytest
from evaluation import listed, shaped
from named_dims import K, M, N, check_has, known_of, scalar, shape_of
from onnx_text import model

import whorl
from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.movement.shapes import Expand, Flatten, Reshape, Shape, Size, Squeeze, Unsqueeze

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
UNRANKED_X = Known(TensorType(np.dtype(np.float32), UNRANKED))


def ints(*numbers):
    return np.array(numbers, np.int64)


# ---- Shape and Size ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (Shape(), [2, 3, 4]),
        (Shape(start=-1), [4]),
        (Shape(end=-1), [2, 3]),
        (Shape(start=-9, end=9), [2, 3, 4]),
        (Shape(start=2, end=1), []),
    ],
)
def test_shape_part_is_cut_and_clamped(op, expected):
    assert op.run(X).tolist() == expected


def test_shape_and_size_of_named_dims_are_known():
    assert known_of(Shape(), shaped(N, 3)) == [N, 3]
    assert known_of(Shape(start=1), shaped(N, 3, M)) == [3, M]
    assert known_of(Size(), shaped(N, 3, M)) == N * M * 3
    assert Size().run(X).tolist() == 24 and Size().run(X).dtype == np.int64


def test_shape_of_unranked_has_unknown_length():
    assert shape_of(Shape(), UNRANKED_X) == (None,) and known_of(Shape(), UNRANKED_X) is None


# ---- Reshape -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((4, 6), (4, 6)), ((-1,), (24,)), ((0, -1), (2, 12)), ((0, 0, 2, 2), (2, 3, 2, 2)), ((2, 0, 4, 1), (2, 3, 4, 1))],
)
def test_reshape_zero_copies_and_minus_one_is_the_rest(shape, expected):
    assert Reshape().run(X, ints(*shape)).shape == expected


def test_reshape_of_one_element_to_empty_shape_is_a_scalar():
    assert Reshape().run(np.ones((1, 1), np.float32), ints()).shape == ()


def test_reshape_allowzero_makes_an_empty_tensor():
    empty = np.zeros((0, 3), np.float32)
    assert Reshape(allowzero=1).run(empty, ints(3, 0)).shape == (3, 0)
    assert Reshape().run(empty, ints(0, 3)).shape == (0, 3)
    assert Reshape().run(empty, ints(2, -1)).shape == (2, 0)


@pytest.mark.parametrize(
    ("op", "x", "shape", "message"),
    [
        (Reshape(), X, (5, 5), "cannot reshape [2, 3, 4], 24 elements, into [5, 5]"),
        (Reshape(), X, (-1, 7), "cannot reshape [2, 3, 4], 24 elements, into [-1, 7]"),
        (Reshape(), X, (-1, -1), "shape is [-1, -1], expected lengths and -1 at most once"),
        (Reshape(), X, (-2, 12), "shape is [-2, 12], expected lengths and -1 at most once"),
        (Reshape(), X, (1, 2, 3, 0), "shape [1, 2, 3, 0] copies axis 3 of a tensor of rank 3"),
        (Reshape(1), X, (0, -1), "-1 in [0, -1] stands for no one length where another length is 0"),
        (Reshape(), X[:0], (0, -1), "-1 in [0, -1] stands for no one length where another length is 0"),
    ],
)
def test_reshape_refuses_shapes_that_do_not_fit(op, x, shape, message):
    with pytest.raises(RunError) as caught:
        op.run(x, ints(*shape))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("passed", "shape", "expected"),
    [
        ((N, M, 768), (0, 0, 12, 64), (N, M, 12, 64)),
        ((N, M, 768), (N, M, 12, -1), (N, M, 12, 64)),
        ((N, 12, M, 64), (N * 12, M, 64), (N * 12, M, 64)),
        ((N, 12, M, 64), (-1, M, 64), (N * 12, M, 64)),
        ((N, M, K), (-1, K), (N * M, K)),
        ((N, 6), (-1,), (N * 6,)),
        ((N, 6), (3, -1), (3, N * 2)),
        ((24,), (2, -1, 3), (2, 4, 3)),
        ((8, 3), (N, 3), (8, 3)),
        ((N, 3), (M, 3), (None, 3)),
        ((N, 3), (M, K), (None, None)),
        ((N + 1, 4), (N + 1, 2, 2), (N + 1, 2, 2)),
        ((N, 3), (UNKNOWN, 3), (None, 3)),
    ],
)
def test_reshape_infers_what_the_numbers_of_elements_prove(passed, shape, expected):
    assert shape_of(Reshape(), shaped(*passed), listed(*shape)) == expected
    check_has(Reshape(), shaped(*passed), listed(*(d for d in shape if d is not UNKNOWN)), sizes=range(1, 4))


def test_reshape_with_unknown_numbers_keeps_the_rank():
    assert shape_of(Reshape(), UNRANKED_X, shaped(3, dtype=np.int64)) == (None, None, None)
    assert shape_of(Reshape(), UNRANKED_X, shaped(N, dtype=np.int64)) is UNRANKED
    assert shape_of(Reshape(), UNRANKED_X, listed(2, -1, 4)) == (2, None, 4)


@pytest.mark.parametrize("shape", [(5, -1), (-1, -1), (-3,)])
def test_reshape_that_can_never_run_is_refused_early(shape):
    with pytest.raises(TypeRuleError):
        Reshape().infer(shaped(2, 3, 4), listed(*shape))


# ---- Flatten, Squeeze, Unsqueeze, Expand ---------------------------------------------------------------------------


@pytest.mark.parametrize(("axis", "expected"), [(0, (1, 24)), (1, (2, 12)), (-1, (6, 4)), (3, (24, 1)), (-3, (1, 24))])
def test_flatten_cuts_the_axes_in_two(axis, expected):
    assert Flatten(axis).run(X).shape == expected
    assert shape_of(Flatten(axis), shaped(2, 3, 4)) == expected


def test_flatten_multiplies_named_dims():
    assert shape_of(Flatten(2), shaped(N, 3, M, 4)) == (N * 3, M * 4)
    assert Flatten(0).run(np.array(5.0)).shape == (1, 1)
    with pytest.raises(TypeRuleError, match=r"axis 4 is outside \[-3, 3\] of a tensor of rank 3"):
        Flatten(4).infer(shaped(2, 3, 4))


def test_squeeze_drops_axes_of_length_one():
    x = X.reshape(1, 6, 1, 4)
    assert Squeeze().run(x).shape == (6, 4)
    assert Squeeze().run(x, ints(-2)).shape == (1, 6, 4)
    assert Squeeze().run(x, ints()).shape == (1, 6, 1, 4)
    with pytest.raises(RunError, match="axis 1 has length 6, only length 1 can be squeezed"):
        Squeeze().run(x, ints(1))


def test_squeeze_infers_the_rank_where_it_can():
    assert shape_of(Squeeze(), shaped(1, N, 1, 4), listed(0, -2)) == (N, 4)
    assert shape_of(Squeeze(), shaped(1, N + 2, 1)) == (N + 2,)
    assert shape_of(Squeeze(), shaped(1, N, 1)) is UNRANKED
    assert shape_of(Squeeze(), shaped(1, N, 1), shaped(2, dtype=np.int64)) == (None,)
    with pytest.raises(TypeRuleError, match=r"axis 1 of float32\[1, 3\] cannot be squeezed"):
        Squeeze().infer(shaped(1, 3), listed(1))


def test_unsqueeze_counts_axes_in_the_result():
    assert Unsqueeze().run(X, ints(0, -1)).shape == (1, 2, 3, 4, 1)
    assert shape_of(Unsqueeze(), shaped(N, 3), listed(-1, 0)) == (1, N, 3, 1)
    assert shape_of(Unsqueeze(), shaped(N), shaped(2, dtype=np.int64)) == (None, None, None)
    with pytest.raises(RunError, match=r"axes \[0, -4\] name an axis twice"):
        Unsqueeze().run(np.zeros((2, 3)), ints(0, -4))


def test_expand_broadcasts_both_ways_without_copying():
    thin = X[:, :1]
    wide = Expand().run(thin, ints(5, 1, 3, 1))
    np.testing.assert_array_equal(wide, np.broadcast_to(thin, (5, 2, 3, 4)))
    assert np.shares_memory(wide, thin)
    assert Expand().run(thin, ints(1)).shape == (2, 1, 4)
    with pytest.raises(RunError, match=r"cannot broadcast \[2, 3, 4\] with \[5, 4\]"):
        Expand().run(X, ints(5, 4))
    with pytest.raises(RunError, match=r"shape is \[-1, 4\], lengths must not be negative"):
        Expand().run(X, ints(-1, 4))


def test_expand_beyond_any_memory_is_refused():
    with pytest.raises(RunError, match="more elements than memory can ever hold"):
        Expand().run(X, ints(2**61, 2, 3, 4))


@pytest.mark.usefixtures("each_backend")
@pytest.mark.parametrize("runs", [1, 3])
def test_expand_to_a_shape_of_the_run_that_does_not_fit_fails(runs):
    expand = whorl.InferenceSession(model("main (float[5, 3] x, int64[2] s) => (float[n, m] y) { y = Expand(x, s) }"))
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    for _ in range(runs):
        for fitting in ((1, 1), (5, 1), (1, 3), (5, 3)):
            np.testing.assert_array_equal(expand.run(None, {"x": x, "s": ints(*fitting)})[0], x)
        for other in ((2, 1), (0, 1), (10, 1), (1, 6)):
            with pytest.raises(RunError) as caught:
                expand.run(None, {"x": x, "s": ints(*other)})
            assert str(caught.value) == f"Expand 'y': cannot broadcast [5, 3] with {list(other)}"
        with pytest.raises(RunError) as caught:
            expand.run(None, {"x": x, "s": ints(-7, 1)})
        assert str(caught.value) == "Expand 'y': shape is [-7, 1], lengths must not be negative"


def test_expand_infers_from_known_and_unknown_shapes():
    assert shape_of(Expand(), shaped(1, 3), listed(N, 1)) == (N, 3)
    assert shape_of(Expand(), shaped(N, 3), listed(N, 1)) == (N, 3)
    assert shape_of(Expand(), shaped(N, 3), listed(M, 1)) == (None, 3)
    assert shape_of(Expand(), shaped(4, 1), shaped(3, dtype=np.int64)) == (None, 4, None)
    assert known_of(Expand(), scalar(7), listed(3)) == [7, 7, 7]


# ---- chains --------------------------------------------------------------------------------------------------------


def types_of(text, **feeds):
    """Output name -> inferred type of a model in ONNX text; the model must also run."""
    module = whorl.load(onnx.parser.parse_model(text))
    whorl.run(module, feeds)
    return {name: str(value.type) for name, value in zip(module.output_names, module.main.results, strict=True)}


ATTENTION_HEADS = """
<ir_version: 8, opset_import: ["" : 17]>
heads (float[N, S, 768] x) => (q, back, last)
<int64 i0 = {0}, int64 i1 = {1}, int64[1] a0 = {0}, int64[1] h = {12}, int64[1] w = {64}, int64[1] rest = {-1}> {
    shape = Shape(x)
    n = Gather(shape, i0)
    s = Gather(shape, i1)
    n1 = Unsqueeze(n, a0)
    s1 = Unsqueeze(s, a0)
    split = Concat<axis = 0>(n1, s1, h, w)
    heads = Reshape(x, split)
    q = Transpose<perm = [0, 2, 1, 3]>(heads)
    t = Transpose<perm = [0, 2, 1, 3]>(q)
    joined = Concat<axis = 0>(n1, s1, rest)
    back = Reshape(t, joined)
    one = Constant<value_ints = [1]>()
    end = Sub(s1, one)
    axis1 = Constant<value_ints = [1]>()
    last = Slice(back, a0, end, axis1)
}
"""


def test_heads_split_and_combined_by_shape_arithmetic_keep_their_names():
    x = np.zeros((2, 5, 768), np.float32)
    types = types_of(ATTENTION_HEADS, x=x)
    assert types["q"] == "float32[N, 12, S, 64]"
    assert types["back"] == "float32[N, S, 768]"
    assert types["last"] in ("float32[N, max(-1+S, 0), 768]", "float32[N, max(0, S-1), 768]")


PADS_OF_PYTORCH = """
<ir_version: 8, opset_import: ["" : 17]>
padded (float[N, 3, H, W] x) => (y)
<int64[4] given = {1, 2, 3, 4}, int64[1] zero = {0}, int64[2] pairs = {-1, 2},
 int64[1] minus = {-1}, int64[1] least = {-9223372036854775807}, int64 two = {2}, int64 four = {4}> {
    rank = Size(given)
    shape = Shape(x)
    axes = Size(shape)
    double = Mul(axes, two)
    missing = Sub(double, rank)
    m1 = Unsqueeze(missing, zero)
    zeros = ConstantOfShape<value = int64[1] {0}>(m1)
    all = Concat<axis = 0>(given, zeros)
    table = Reshape(all, pairs)
    turned = Slice(table, minus, least, zero, minus)
    columns = Transpose<perm = [1, 0]>(turned)
    pads = Reshape(columns, minus)
    y = Pad<mode = "constant">(x, pads)
}
"""


def test_pads_computed_through_a_table_are_followed():
    types = types_of(PADS_OF_PYTORCH, x=np.zeros((1, 3, 2, 2), np.float32))
    assert types["y"] == "float32[N, 3, H+7, W+3]"


UNKNOWN_PART = """
<ir_version: 8, opset_import: ["" : 17]>
partly (float[N, 12] x, int64 k) => (y) <int64[1] zero = {0}, int64 i0 = {0}, int64[1] rest = {-1}> {
    shape = Shape(x)
    n = Gather(shape, i0)
    n1 = Unsqueeze(n, zero)
    k1 = Unsqueeze(k, zero)
    target = Concat<axis = 0>(n1, k1, rest)
    y = Reshape(x, target)
}
"""


def test_one_unknown_length_leaves_its_neighbours_known():
    types = types_of(UNKNOWN_PART, x=np.zeros((2, 12), np.float32), k=np.array(3))
    assert types["y"].startswith("float32[N, y.1, ")
