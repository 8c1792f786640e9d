# ruff: noqa: E501  (a model is a line)
"""ONNX files that nobody means well with: a name, and what writes the model and what lies beside it into a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper, parser

Write = Callable[[Path], Path]
F, I, B, S = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
HUGE = 1 << 62


def written(folder: Path, content: bytes | ModelProto, name: str = "model.onnx") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    return path


def text(body: str, opset: int = 21, functions: str = "") -> Write:
    """A model in ONNX's text form."""
    source = f'<ir_version: 10, opset_import: ["" : {opset}, "f" : 1]> {body} {functions}'
    return lambda folder: written(folder, parser.parse_model(source))


def raw(content: bytes) -> Write:
    return lambda folder: written(folder, content)


def model_of(graph: GraphProto, opset: int = 21, **fields) -> ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10, **fields)


def info(name: str, type: int = F, shape=(2,)) -> object:
    return helper.make_tensor_value_info(name, type, shape)


def graph(nodes, inputs=None, outputs=None, initializers=()) -> GraphProto:
    passed = [info("x")] if inputs is None else inputs
    return helper.make_graph(nodes, "g", passed, [info("y", F, None)] if outputs is None else outputs, initializers)


def one(op: str, *inputs, initializers=(), shape=(2,), type: int = F, opset: int = 21, domain: str = "", **attributes):
    """A model of one node that reads x and what else is named."""
    node = helper.make_node(op, ["x", *inputs], ["y"], domain=domain, **attributes)
    proto = model_of(graph([node], [info("x", type, shape)], None, initializers), opset)
    if domain:
        proto.opset_import.append(helper.make_opsetid(domain, 3))
    return lambda folder: written(folder, proto)


def ints(name: str, *values: int) -> TensorProto:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def tensor(name: str, dims, type: int = F, content: bytes = b"", **external: str) -> TensorProto:
    actual = TensorProto(name=name, data_type=type, dims=dims)
    if external:
        actual.data_location = TensorProto.EXTERNAL
        for key, value in external.items():
            actual.external_data.add(key=key, value=value)
    else:
        actual.raw_data = content
    return actual


def with_weights(prepare: Callable[[Path], object], dims=(4,), type: int = F, **external: str) -> Write:
    """A model whose weights lie where an attacker says; `prepare` makes what lies there."""

    def write(folder: Path) -> Path:
        prepare(folder)
        node = helper.make_node("Add", ["x", "w"], ["y"])
        return written(
            folder, model_of(graph([node], [info("x", type, dims)], None, [tensor("w", dims, type, **external)]))
        )

    return write


def sparse_file(size: int, name: str = "w") -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        with (folder / name).open("wb") as file:
            file.truncate(size)

    return make


def chained(op: str, length: int, *more: str, initializers=(), **attributes) -> Write:
    nodes = [helper.make_node(op, [f"x{k}", *more], [f"x{k + 1}"], **attributes) for k in range(length)]
    proto = model_of(graph(nodes, [info("x0")], [info(f"x{length}", F, None)], initializers))
    return lambda folder: written(folder, proto)


def doubled(op: str, length: int) -> Write:
    """Each node reads the one before it twice: 2**length paths."""
    nodes = [helper.make_node(op, [f"x{k}", f"x{k}"], [f"x{k + 1}"]) for k in range(length)]
    return lambda folder: written(folder, model_of(graph(nodes, [info("x0")], [info(f"x{length}", F, None)])))


def nested(depth: int) -> Write:
    """If in If in If, as bytes: protobuf's own writer would refuse it."""
    inner = helper.make_graph([helper.make_node("Identity", ["x"], ["b"])], "b", [], [info("b")])

    def write(folder: Path) -> Path:
        data = inner.SerializeToString()
        for _ in range(depth):
            data = _with_branches(data)
        model = ModelProto(ir_version=10, opset_import=[helper.make_opsetid("", 21)]).SerializeToString()
        return written(folder, model + _field(7, data))

    return write


def _with_branches(branch: bytes) -> bytes:
    attributes = b"".join(
        _field(5, _field(1, name.encode()) + _field(6, branch) + b"\xa0\x01\x05")
        for name in ("then_branch", "else_branch")[:1]
    )
    node = _field(1, b"c") + _field(2, b"b") + _field(4, b"If") + attributes
    outputs = info("b").SerializeToString()
    return _field(1, node) + _field(2, b"g") + _field(12, outputs)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    actual = b""
    while value > 127:
        actual, value = actual + bytes([value & 127 | 128]), value >> 7
    return actual + bytes([value])


def tree(**attributes) -> Write:
    whole = {
        "n_targets": 1,
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
    }
    return one("TreeEnsembleRegressor", shape=(3, 2), domain="ai.onnx.ml", **(whole | attributes))


def _loop(
    body: str, head: str = "M=Constant<value=int64 {9223372036854775807}>() go=Constant<value=bool {1}>()"
) -> Write:
    return text(f"g (float[2] x) => (y) {{ {head} {body} }}")


def _constant_shape(*dims: int) -> str:
    return f"s=Constant<value=int64[{len(dims)}] {{{','.join(map(str, dims))}}}>()"


def _pieces(op: str, *shape: int, head: str = "") -> Write:
    return text(f"g (float[2] x) => (y) {{ {_constant_shape(*shape)} {head} {op} }}")


def _cycle(folder: Path) -> Path:
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    return written(folder, model_of(graph(nodes)))


def _many_attributes(folder: Path) -> Path:
    node = helper.make_node("Neg", ["x"], ["y"])
    node.attribute.extend(helper.make_attribute(f"a{k}", k) for k in range(100_000))
    return written(folder, model_of(graph([node])))


def _repeated_attribute(folder: Path) -> Path:
    node = helper.make_node("Softmax", ["x"], ["y"])
    node.attribute.extend(helper.make_attribute("axis", 0) for _ in range(3))
    return written(folder, model_of(graph([node])))


def _invalid_utf8(folder: Path) -> Path:
    data = model_of(graph([helper.make_node("Neg", ["x"], ["y"], name="abcdef")])).SerializeToString()
    return written(folder, data.replace(b"abcdef", b"\xff\xfe\x80\xc0\xc1\xf5"))


def _wide(folder: Path) -> Path:
    node = helper.make_node("Sum", ["x"] * 50_000, ["y"])
    return written(folder, model_of(graph([node])))


def _many_outputs(folder: Path) -> Path:
    names = [f"y{k}" for k in range(20_000)]
    node = helper.make_node("Split", ["x"], names, num_outputs=20_000)
    return written(folder, model_of(graph([node], None, [info(name, F, None) for name in names])))


def _name_of_a_megabyte(folder: Path) -> Path:
    name = "n" * (1 << 20)
    nodes = [helper.make_node("Neg", ["x"], [name]), helper.make_node("Neg", [name], ["y"])]
    return written(folder, model_of(graph(nodes)))


def _string_zip_bomb(folder: Path) -> Path:
    big = numpy_helper.from_array(np.array(["a" * (1 << 20)] * 32, object), "w")
    times = ints("r", 1 << 20)
    node = helper.make_node("Tile", ["w", "r"], ["y"])
    return written(folder, model_of(graph([node], [], [info("y", S, None)], [big, times])))


def _functions(count: int) -> Write:
    """Function f0 calls f1 twice, that f2 twice: 2**count nodes once they are written out."""
    functions = " ".join(
        f'<domain: "f", opset_import: ["" : 21, "f" : 1]> f{k} (a) => (b) {{ c = f.f{k + 1}(a) b = f.f{k + 1}(c) }}'
        for k in range(count)
    )
    last = f'<domain: "f", opset_import: ["" : 21]> f{count} (a) => (b) {{ b = Neg(a) }}'
    return text("g (float[2] x) => (float[2] y) { y = f.f0(x) }", functions=f"{functions} {last}")


SELF = '<domain: "f", opset_import: ["" : 21, "f" : 1]> a (x) => (y) { y = f.a(x) }'
PAIR = (
    '<domain: "f", opset_import: ["" : 21, "f" : 1]> a (x) => (y) { y = f.b(x) } '
    '<domain: "f", opset_import: ["" : 21, "f" : 1]> b (x) => (y) { y = f.a(x) }'
)
CALL = "g (float[2] x) => (float[2] y) { y = f.a(x) }"
NAN, INF = float("nan"), float("inf")

BROKEN: dict[str, Write] = {
    "empty": raw(b""),
    "zeros": raw(bytes(10_000)),
    "ones": raw(b"\xff" * 10_000),
    "text": raw(b"this is no model at all\n" * 100),
    "length_past_the_end": raw(b"\x3a\xff\xff\xff\xff\x0f" + bytes(100)),
    "endless_varint": raw(b"\x08" + b"\x80" * 10_000),
    "groups_in_groups": raw(b"\x0b" * 100_000),
    "message_in_message": raw(b"\x3a\x80\x80\x80\x08" * 5000),
    "no_graph": raw(ModelProto(ir_version=10).SerializeToString()),
    "future_version": lambda folder: written(folder, model_of(graph([helper.make_node("Neg", ["x"], ["y"])]), 2**62)),
    "negative_opset": lambda folder: written(folder, model_of(graph([helper.make_node("Neg", ["x"], ["y"])]), -1)),
    "invalid_utf8": _invalid_utf8,
    "cycle": _cycle,
    "reads_itself": lambda folder: written(folder, model_of(graph([helper.make_node("Neg", ["y"], ["y"])]))),
    "output_twice": lambda folder: written(folder, model_of(graph([helper.make_node("Neg", ["x"], ["y"])] * 2))),
    "result_of_nothing": lambda folder: written(folder, model_of(graph([]))),
    "unknown_op": one("NoSuchOp"),
    "unknown_domain": lambda folder: written(
        folder, model_of(graph([helper.make_node("Neg", ["x"], ["y"], domain="?")]))
    ),
    "many_attributes": _many_attributes,
    "repeated_attribute": _repeated_attribute,
    "name_of_a_megabyte": _name_of_a_megabyte,
    "attribute_of_another_type": one("Softmax", axis="zero"),
    "axis_of_62_bits": one("Softmax", axis=HUGE),
    "axis_minimum": one("Softmax", axis=-(1 << 63)),
    "element_type_99": lambda folder: written(
        folder, model_of(graph([helper.make_node("Neg", ["x"], ["y"])], [info("x", 99)]))
    ),
}

NESTED: dict[str, Write] = {
    "if_30_deep": nested(30),
    "if_1000_deep": nested(1000),
    "if_3000_deep": nested(3000),
    "function_of_itself": text(CALL, functions=SELF),
    "functions_of_each_other": text(CALL, functions=PAIR),
    "functions_30_deep_twice_each": _functions(30),
    "functions_12_deep_twice_each": _functions(12),
    "chain_of_20000": chained("Neg", 20_000),
    "chain_of_sines_3000": chained("Sin", 3000),
    "doubled_sum_60": doubled("Add", 60),
    "doubled_concat_60": lambda folder: written(
        folder,
        model_of(
            graph(
                [helper.make_node("Concat", [f"x{k}"] * 2, [f"x{k + 1}"], axis=0) for k in range(60)],
                [info("x0")],
                [info("x60", F, None)],
            )
        ),
    ),
    "doubled_text_40": lambda folder: written(
        folder,
        model_of(
            graph(
                [helper.make_node("StringConcat", [f"x{k}"] * 2, [f"x{k + 1}"]) for k in range(40)],
                [info("x0", S)],
                [info("x40", S, None)],
            )
        ),
    ),
    "sum_of_50000": _wide,
    "split_in_20000": _many_outputs,
    "einsum_of_52_letters": one("Einsum", equation="".join(map(chr, [*range(65, 91), *range(97, 123)])) + "->a"),
    "einsum_of_a_megabyte": one("Einsum", equation="a," * 500_000),
    "regex_that_backtracks": one("RegexFullMatch", type=S, opset=20, pattern="(a*)*" * 30 + "b"),
    "regex_of_many_states": one("RegexFullMatch", type=S, opset=20, pattern="(((a{1000}){1000}){1000}){1000}"),
    "regex_nested": one("RegexFullMatch", type=S, opset=20, pattern="(" * 50_000 + ")" * 50_000),
    "regex_unclosed": one("RegexFullMatch", type=S, opset=20, pattern="(a"),
}

HUGE_SIZES: dict[str, Write] = {
    "constant_of_shape": _pieces("y=ConstantOfShape(s)", 1 << 32, 1 << 32),
    "constant_of_shape_negative": _pieces("y=ConstantOfShape(s)", -1),
    "constant_of_shape_overflow": _pieces("y=ConstantOfShape(s)", 1 << 31, 1 << 31, 1 << 31, 1 << 31),
    "constant_of_shape_zero_and_huge": _pieces("y=ConstantOfShape(s)", 0, HUGE, HUGE),
    "constant_of_shape_10_gb": _pieces("y=ConstantOfShape(s)", 2_500_000_000),
    "expand": _pieces("y=Expand(x,s)", HUGE, 2),
    "expand_sum": _pieces("e=Expand(x,s) y=ReduceSum(e)", 1 << 50, 2),
    "tile": _pieces("y=Tile(x,s)", HUGE),
    "tile_sorted": _pieces("t=Tile(x,s) k=Constant<value=int64[1] {1}>() y,i=TopK(t,k)", 1 << 40),
    "pad": _pieces("y=Pad(x,s)", 0, HUGE),
    "pad_negative": _pieces("y=Pad(x,s)", -HUGE, 0),
    "pad_minimum": _pieces("y=Pad(x,s)", -(1 << 63), -(1 << 63)),
    "reshape": _pieces("y=Reshape(x,s)", HUGE, 0),
    "reshape_product_wraps": _pieces("y=Reshape(x,s)", 1 << 32, 1 << 32, 2),
    "range_of_tiny_steps": text(
        "g (float[2] x) => (y) { a=Constant<value=float {0}>() b=Constant<value=float {1}>() c=Constant<value=float {1e-38}>() y=Range(a,b,c) }"
    ),
    "range_to_the_end": text(
        "g (float[2] x) => (y) { a=Constant<value=int64 {-9223372036854775808}>() b=Constant<value=int64 {9223372036854775807}>() c=Constant<value=int64 {1}>() y=Range(a,b,c) }"
    ),
    "range_without_step": text(
        "g (float[2] x) => (y) { a=Constant<value=int64 {0}>() b=Constant<value=int64 {10}>() c=Constant<value=int64 {0}>() y=Range(a,b,c) }"
    ),
    "range_of_nan": text(
        "g (float[2] x) => (y) { a=Constant<value=float {0}>() b=Constant<value=float {1}>() c=Sub(b,b) d=Div(c,c) y=Range(a,b,d) }"
    ),
    "one_hot": _pieces("i=Cast<to=7>(x) y=OneHot(i,s,v)", HUGE, head="v=Constant<value_floats=[0.0,1.0]>()"),
    "eye": text(f"g (float[2] x) => (y) {{ {_constant_shape(1 << 20, 1 << 20)} c=ConstantOfShape(s) y=EyeLike(c) }}"),
    "random_normal": text("g (float[2] x) => (y) { y=RandomNormal<shape=[4611686018427387904]>() }"),
    "random_normal_10_gb": text("g (float[2] x) => (y) { y=RandomNormal<shape=[2500000000]>() }"),
    "multinomial": one("Multinomial", shape=(1, 2), sample_size=HUGE),
    "bernoulli_outer": text(
        f"g (float[2] x) => (y) {{ {_constant_shape(1 << 36)} c=ConstantOfShape(s) y=Bernoulli(c) }}"
    ),
    "pool_window": one("MaxPool", shape=(1, 1, 4), kernel_shape=[HUGE], pads=[HUGE // 2, HUGE // 2]),
    "pool_padding": one("AveragePool", shape=(1, 1, 4), kernel_shape=[2], pads=[HUGE, HUGE]),
    "pool_stride_zero": one("MaxPool", shape=(1, 1, 4), kernel_shape=[2], strides=[0]),
    "pool_dilation": one("MaxPool", shape=(1, 1, 4), kernel_shape=[2], dilations=[HUGE]),
    "pool_negative": one("MaxPool", shape=(1, 1, 4), kernel_shape=[-3]),
    "convolution_padding": one(
        "Conv", "w", shape=(1, 1, 4), pads=[HUGE, HUGE], initializers=[tensor("w", (1, 1, 1), F, bytes(4))]
    ),
    "convolution_groups": one(
        "Conv", "w", shape=(1, 1, 4), group=0, initializers=[tensor("w", (1, 1, 1), F, bytes(4))]
    ),
    "transposed_convolution_stride": one(
        "ConvTranspose", "w", shape=(1, 1, 4), strides=[HUGE], initializers=[tensor("w", (1, 1, 1), F, bytes(4))]
    ),
    "resize": one(
        "Resize", "", "s", shape=(1, 1, 4), initializers=[numpy_helper.from_array(np.float32([1, 1, 1e30]), "s")]
    ),
    "resize_by_nan": one(
        "Resize", "", "s", shape=(1, 1, 4), initializers=[numpy_helper.from_array(np.float32([1, 1, NAN]), "s")]
    ),
    "resize_sizes": one("Resize", "", "", "s", shape=(1, 1, 4), initializers=[ints("s", 1, 1, HUGE)]),
    "depth_to_space": one("DepthToSpace", shape=(1, 4, 1, 1), blocksize=1 << 31),
    "space_to_depth_zero": one("SpaceToDepth", shape=(1, 4, 2, 2), blocksize=0),
    "dft": one("DFT", "n", shape=(1, 4, 1), opset=20, initializers=[numpy_helper.from_array(np.array(HUGE), "n")]),
    "hann_window": text("g (float[2] x) => (y) { n=Constant<value=int64 {4611686018427387904}>() y=HannWindow(n) }"),
    "mel_weights": text(
        "g (float[2] x) => (y) { n=Constant<value=int64 {1073741824}>() r=Constant<value=int64 {8192}>() a=Constant<value=float {0}>() b=Constant<value=float {8192}>() y=MelWeightMatrix(n,n,r,a,b) }"
    ),
    "stft": one(
        "STFT",
        "n",
        "",
        "l",
        shape=(1, 8, 1),
        opset=17,
        initializers=[numpy_helper.from_array(np.array(0), "n"), numpy_helper.from_array(np.array(HUGE), "l")],
    ),
    "affine_grid": one("AffineGrid", "s", shape=(1, 2, 3), opset=20, initializers=[ints("s", 1, 1, 1 << 31, 1 << 31)]),
    "roi_align": one(
        "RoiAlign",
        "r",
        "b",
        shape=(1, 1, 4, 4),
        opset=16,
        output_height=1 << 31,
        output_width=1 << 31,
        initializers=[tensor("r", (1, 4), F, bytes(16)), ints("b", 0)],
    ),
    "max_unpool": one(
        "MaxUnpool",
        "i",
        "s",
        shape=(1, 1, 2),
        kernel_shape=[2],
        initializers=[tensor("i", (1, 1, 2), I, bytes(16)), ints("s", 1, 1, HUGE)],
    ),
    "rnn_hidden_size": one(
        "RNN",
        "w",
        "r",
        shape=(1, 1, 1),
        hidden_size=HUGE,
        initializers=[tensor("w", (1, 1, 1), F, bytes(4)), tensor("r", (1, 1, 1), F, bytes(4))],
    ),
    "tfidf_ngrams": one(
        "TfIdfVectorizer",
        shape=(4,),
        type=I,
        mode="TF",
        min_gram_length=1,
        max_gram_length=HUGE,
        max_skip_count=HUGE,
        ngram_counts=[0],
        ngram_indexes=[HUGE],
        pool_int64s=[1],
    ),
    "bit_shift": one("BitShift", "x", type=TensorProto.UINT64, direction="LEFT"),
    "string_tile": _string_zip_bomb,
    "string_split": one("StringSplit", type=S, opset=20, delimiter="e"),
    "matmul_of_expanded": text(
        f"g (float[2] x) => (y) {{ {_constant_shape(200_000, 200_000)} e=ConstantOfShape(s) m=MatMul(e,e) y=ReduceSum(m) }}"
    ),
    "cumsum_of_expanded": text(
        f"g (float[2] x) => (y) {{ {_constant_shape(1 << 40)} e=ConstantOfShape(s) z=Constant<value=int64 {{0}}>() y=CumSum(e,z) }}"
    ),
    "where_of_three_axes": text(
        "g (float[1,1,60000] a, float[1,60000,1] b, bool[60000,1,1] c) => (y) { y=Where(c,a,b) }"
    ),
    "tower_of_tiles": text(
        "g () => (y) { x0=Constant<value_floats=[1.0,2.0]>() r=Constant<value=int64[1] {1000}>() z=Constant<value=int64 {0}>() "
        "x1=Tile(x0,r) x2=Tile(x1,r) x3=Tile(x2,r) x4=Tile(x3,r) y=CumSum(x4,z) }"
    ),
    "equal_towers": text(
        "g () => (y, z) { x0=Constant<value_floats=[1.0,2.0]>() r=Constant<value=int64[1] {1000000000000}>() "
        "a=Tile(x0,r) b=Tile(x0,r) y=Neg(a) z=Neg(b) }"
    ),
    "declared_huge": lambda folder: written(
        folder, model_of(graph([helper.make_node("Neg", ["x"], ["y"])], [info("x", F, (1 << 40, 1 << 40))]))
    ),
    "declared_negative": lambda folder: written(
        folder, model_of(graph([helper.make_node("Neg", ["x"], ["y"])], [info("x", F, (-5,))]))
    ),
    "rank_10000": lambda folder: written(
        folder, model_of(graph([helper.make_node("Neg", ["x"], ["y"])], [info("x", F, (1,) * 10_000)]))
    ),
    "transpose_of_65_axes": one("Transpose", shape=(1,) * 65),
    "unsqueeze_100_axes": one("Unsqueeze", "a", initializers=[ints("a", *range(100))]),
}

LOOPS: dict[str, Write] = {
    "forever": _loop("y=Loop(M,go,x)<body=b(int64 i,bool k,float[2] a)=>(bool c,float[2] n){c=Identity(k) n=Neg(a)}>"),
    "forever_collecting": _loop("y=Loop(M,go)<body=b(int64 i,bool k)=>(bool c,float[2] n){c=Identity(k) n=Neg(x)}>"),
    "doubling": _loop(
        "y=Loop(M,go,x)<body=b(int64 i,bool k,float[d] a)=>(bool c,float[e] n){c=Identity(k) n=Concat<axis=0>(a,a)}>"
    ),
    "doubling_text": text(
        "g (string[2] x) => (y) { M=Constant<value=int64 {9223372036854775807}>() go=Constant<value=bool {1}>() "
        "y=Loop(M,go,x)<body=b(int64 i,bool k,string[2] a)=>(bool c,string[2] n){c=Identity(k) n=StringConcat(a,a)}> }"
    ),
    "growing_sequence": text(
        "g (float[2] x) => (y) { M=Constant<value=int64 {9223372036854775807}>() go=Constant<value=bool {1}>() e=SequenceEmpty<dtype=1>() "
        "y=Loop(M,go,e)<body=b(int64 i,bool k,seq(float[2]) a)=>(bool c,seq(float[2]) n){c=Identity(k) n=SequenceInsert(a,x)}> }"
    ),
    "a_million_squared": text(
        "g (float[2] x) => (y) { M=Constant<value=int64 {1000000}>() "
        "y=Loop(M,,x)<body=b(int64 i,bool k,float[2] a)=>(bool c,float[2] n){c=Identity(k) "
        "n=Loop(M,,a)<body=d(int64 j,bool l,float[2] e)=>(bool f,float[2] m){f=Identity(l) m=Sin(e)}>}> }"
    ),
    "known_trips": text(
        "g () => (y) { M=Constant<value=int64 {100000}>() x=Constant<value_floats=[1.0,2.0]>() "
        "y=Loop(M,,x)<body=b(int64 i,bool k,float[2] a)=>(bool c,float[2] n){c=Identity(k) n=Sin(a)}> }"
    ),
    "known_rows": text(
        "g () => (y) { M=Constant<value=int64 {100000}>() x=Constant<value=int64[1] {10000}>() e=ConstantOfShape(x) "
        "y=Loop(M,)<body=b(int64 i,bool k)=>(bool c,float[10000] n){c=Identity(k) n=Neg(e)}> }"
    ),
    "condition_of_two": text(
        "g (bool[2] x) => (y) { z=Constant<value=float {1}>() y=If(x)<then_branch=t()=>(a){a=Neg(z)},else_branch=e()=>(b){b=Neg(z)}> }"
    ),
    "negative_trips": text(
        "g (float[2] x) => (y) { M=Constant<value=int64 {-9223372036854775808}>() "
        "y=Loop(M,,x)<body=b(int64 i,bool k,float[2] a)=>(bool c,float[2] n){c=Identity(k) n=Neg(a)}> }"
    ),
    "scan_of_other_lengths": text(
        "g (float[3] x, float[4] z) => (y) { y=Scan<num_scan_inputs=2,body=b(float a,float c)=>(float d){d=Add(a,c)}>(x,z) }"
    ),
    "scan_without_inputs": text(
        "g (float[3] x) => (y) { y=Scan<num_scan_inputs=0,body=b(float[3] a)=>(float[3] d){d=Neg(a)}>(x) }"
    ),
    "scan_of_too_many": text(
        "g (float[3] x) => (y) { y=Scan<num_scan_inputs=4611686018427387904,body=b(float a)=>(float d){d=Neg(a)}>(x) }"
    ),
    "body_without_arguments": text("g (float[2] x) => (y) { y=Loop(,,x)<body=b()=>(){}> }"),
}

INDEXES: dict[str, Write] = {
    f"{op}_{name}": text(
        f"g (float[4] x) => (y) {{ i=Constant<value=int64[1] {{{index}}}>() {call} }}".replace("OP", op)
    )
    for op, call in (
        ("Gather", "y=OP<axis=0>(x,i)"),
        ("GatherElements", "y=OP<axis=0>(x,i)"),
        ("GatherND", "y=OP(x,i)"),
        ("ScatterElements", "u=Constant<value_floats=[9.0]>() y=OP<axis=0>(x,i,u)"),
        ("ScatterND", "j=Constant<value=int64[2] {1,1}>() k=Reshape(i,j) u=Constant<value_floats=[9.0]>() y=OP(x,k,u)"),
        ("Slice", "z=Constant<value=int64[1] {0}>() y=OP(x,i,z,z,i)"),
        ("TopK", "y,n=OP(x,i)"),
    )
    for name, index in (("minimum", -(1 << 63)), ("maximum", (1 << 63) - 1))
}

STORED: dict[str, Write] = {
    "too_few_bytes": with_weights(lambda folder: (folder / "w").write_bytes(bytes(3)), location="w"),
    "no_such_file": with_weights(lambda folder: None, location="w"),
    "outside": with_weights(lambda folder: None, location="../../../../../../etc/passwd"),
    "absolute": with_weights(lambda folder: None, location="/etc/passwd"),
    "device_of_zeros": with_weights(lambda folder: None, location="/dev/zero"),
    "link_to_outside": with_weights(lambda folder: (folder / "w").symlink_to("/etc/passwd"), location="w"),
    "link_to_a_device": with_weights(lambda folder: (folder / "w").symlink_to("/dev/zero"), location="w"),
    "link_to_itself": with_weights(lambda folder: (folder / "w").symlink_to("w"), location="w"),
    "fifo": with_weights(lambda folder: os.mkfifo(folder / "w"), location="w"),
    "folder": with_weights(lambda folder: (folder / "w").mkdir(), location="w"),
    "no_location": with_weights(lambda folder: None, offset="0"),
    "empty_location": with_weights(lambda folder: None, location=""),
    "zero_byte_in_location": with_weights(lambda folder: None, location="a\0b"),
    "location_of_a_megabyte": with_weights(lambda folder: None, location="a" * (1 << 20)),
    "negative_offset": with_weights(sparse_file(64), location="w", offset="-8"),
    "huge_offset": with_weights(sparse_file(64), location="w", offset=str(1 << 80)),
    "offset_is_text": with_weights(sparse_file(64), location="w", offset="nine"),
    "wrong_length": with_weights(sparse_file(64), location="w", length="17"),
    "huge_length": with_weights(sparse_file(64), location="w", length=str(1 << 80)),
    "sparse_terabyte": with_weights(sparse_file(1 << 40), (1 << 38,), location="w"),
    "sparse_terabyte_of_bytes": with_weights(sparse_file(1 << 40), (1 << 40,), TensorProto.UINT8, location="w"),
    "dims_overflow": with_weights(sparse_file(64), (1 << 32, 1 << 32, 1 << 32), location="w"),
    "strings_outside": with_weights(sparse_file(64), (4,), S, location="w"),
    "inline_dims_huge": lambda folder: written(
        folder,
        model_of(graph([helper.make_node("Add", ["x", "w"], ["y"])], None, None, [tensor("w", (HUGE,), F, bytes(8))])),
    ),
    "inline_dims_negative": lambda folder: written(
        folder,
        model_of(graph([helper.make_node("Add", ["x", "w"], ["y"])], None, None, [tensor("w", (-1,), F, bytes(8))])),
    ),
    "inline_dims_zero_and_huge": lambda folder: written(
        folder,
        model_of(graph([helper.make_node("Add", ["x", "w"], ["y"])], None, None, [tensor("w", (0, HUGE), F, b"")])),
    ),
    "inline_too_few": lambda folder: written(
        folder,
        model_of(graph([helper.make_node("Add", ["x", "w"], ["y"])], None, None, [tensor("w", (100,), F, bytes(8))])),
    ),
    "inline_type_0": lambda folder: written(
        folder,
        model_of(graph([helper.make_node("Add", ["x", "w"], ["y"])], None, None, [tensor("w", (2,), 0, bytes(8))])),
    ),
    "segments": lambda folder: written(
        folder,
        model_of(
            graph(
                [helper.make_node("Add", ["x", "w"], ["y"])],
                None,
                None,
                [
                    TensorProto(
                        name="w",
                        data_type=F,
                        dims=[2],
                        raw_data=bytes(8),
                        segment=TensorProto.Segment(begin=-1, end=HUGE),
                    )
                ],
            )
        ),
    ),
}

TREES: dict[str, Write] = {
    "right": tree(),
    "nan_threshold": tree(nodes_values=[NAN, 0.0, 0.0]),
    "infinite_threshold": tree(nodes_values=[INF, 0.0, 0.0]),
    "branch_to_itself": tree(nodes_truenodeids=[0, 0, 0]),
    "branches_to_one_child": tree(nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[1, 0, 0]),
    "branch_to_nowhere": tree(nodes_falsenodeids=[7, 0, 0]),
    "branch_to_minimum": tree(nodes_falsenodeids=[-(1 << 63), 0, 0]),
    "feature_outside": tree(nodes_featureids=[1 << 40, 0, 0]),
    "feature_negative": tree(nodes_featureids=[-1, 0, 0]),
    "target_outside": tree(target_ids=[0, 1 << 40]),
    "target_negative": tree(target_ids=[0, -1]),
    "huge_targets": tree(n_targets=1 << 40),
    "unknown_mode": tree(nodes_modes=["BRANCH_??", "LEAF", "LEAF"]),
    "lengths_differ": tree(nodes_values=[0.5]),
    "two_nodes_of_one_id": tree(nodes_nodeids=[0, 1, 1]),
    "weight_nan": tree(target_weights=[NAN, INF]),
}
GROUPS = {
    "broken": BROKEN,
    "nested": NESTED,
    "huge": HUGE_SIZES,
    "loops": LOOPS,
    "indexes": INDEXES,
    "stored": STORED,
    "trees": TREES,
}
FILES: dict[str, Write] = {
    f"onnx/{group}/{name}": write for group, files in GROUPS.items() for name, write in files.items()
}
