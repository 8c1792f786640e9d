"""OpenVINO IR, MLIR and MDF files that nobody means well with: a name, and what writes the model into a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from formats.openvino.ir_text import constant, edges, layer, parameter, result
from mdf.models import data, node

Write = Callable[[Path], Path]
HUGE = 1 << 62


def file(name: str, content: str | bytes, weights: bytes | Callable[[Path], object] | None = None) -> Write:
    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if isinstance(weights, bytes):
            (folder / "m.bin").write_bytes(weights)
        elif weights is not None:
            weights(folder / "m.bin")
        return path

    return write


# ---- OpenVINO IR ------------------------------------------------------------------------------------------------


def net(layers: str, connected: str, head: str = "") -> str:
    return f'<?xml version="1.0"?>{head}<net name="n" version="11"><layers>{layers}</layers>{edges(connected)}</net>'


def ir(layers: str, connected: str, weights: bytes | Callable[[Path], object] = b"") -> Write:
    return file("m.xml", net(layers, connected), weights)


def unary(inside: str, **more: object) -> str:
    return net(parameter(0) + inside + result(2), "0:0-1:0 1:1-2:0", **more)  # type: ignore[arg-type]


def weighted(
    offset: int, size: int, shape: str, weights: bytes | Callable[[Path], object], element: str = "f32"
) -> Write:
    layers = parameter(0, shape, element) + constant(1, offset, size, shape, element) + layer(2, "Add", 2) + result(3)
    return ir(layers, "0:0-2:0 1:0-2:1 2:2-3:0", weights)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


LAUGHS = "".join(f'<!ENTITY l{k + 1} "{f"&l{k};" * 10}">' for k in range(30))
RELU = layer(1, "ReLU", 1)
OPENVINO: dict[str, Write] = {
    "right": file("m.xml", unary(RELU), b""),
    "empty": file("m.xml", ""),
    "no_xml": file("m.xml", b"\x00\xff\xfe" * 1000),
    "billion_laughs": file(
        "m.xml", unary(RELU, head=f'<!DOCTYPE n [<!ENTITY l0 "ha">{LAUGHS}]>').replace('name="n"', 'name="&l30;"')
    ),
    "quadratic_entities": file(
        "m.xml",
        unary(RELU, head=f'<!DOCTYPE n [<!ENTITY a "{"a" * 100_000}">]>').replace('name="n"', f'name="{"&a;" * 5000}"'),
    ),
    "entity_of_a_file": file(
        "m.xml",
        unary(RELU, head='<!DOCTYPE n [<!ENTITY a SYSTEM "file:///etc/passwd">]>').replace('name="n"', 'name="&a;"'),
    ),
    "definition_outside": file("m.xml", unary(RELU, head='<!DOCTYPE n SYSTEM "http://127.0.0.1:9/n.dtd">')),
    "elements_in_elements": file("m.xml", "<net>" * 100_000),
    "attribute_of_10_megabytes": file("m.xml", unary(RELU).replace('name="n"', f'name="{"a" * 10_000_000}"')),
    "100000_attributes": file("m.xml", unary(RELU).replace('name="n"', " ".join(f'a{k}="1"' for k in range(100_000)))),
    "40000_layers": file("m.xml", net("".join(parameter(k) for k in range(40_000)), "")),
    "invalid_utf8": file("m.xml", unary(RELU).encode().replace(b"relu1", b"\xff\xfe\xfd\xc0\x80")),
    "utf16": file("m.xml", unary(RELU).encode("utf-16"), b""),
    "zero_byte": file("m.xml", unary(RELU).replace("relu1", "re\0lu")),
    "cycle": ir(layer(0, "ReLU", 1) + layer(1, "ReLU", 1) + result(2), "0:1-1:0 1:1-0:0 1:1-2:0"),
    "two_layers_of_one_id": ir(parameter(0) + parameter(0) + result(2), "0:0-2:0"),
    "edge_to_nowhere": ir(parameter(0) + result(2), "0:0-7:0"),
    "id_of_62_bits": ir(parameter(HUGE) + result(2), f"{HUGE}:0-2:0"),
    "id_is_text": file("m.xml", net(parameter(0), "").replace('id="0"', 'id="zero"')),
    "unknown_type": ir(parameter(0) + layer(1, "NoSuch", 1) + result(2), "0:0-1:0 1:1-2:0"),
    "chain_of_10000": ir(
        parameter(0) + "".join(layer(k, "ReLU", 1) for k in range(1, 10_001)) + result(10_001),
        "0:0-1:0 " + " ".join(f"{k}:1-{k + 1}:0" for k in range(1, 10_001)),
    ),
    "shape_huge": ir(parameter(0, f"{HUGE},{HUGE}") + RELU + result(2), "0:0-1:0 1:1-2:0"),
    "shape_negative": ir(parameter(0, "-7") + RELU + result(2), "0:0-1:0 1:1-2:0"),
    "shape_is_text": ir(parameter(0, "two,three") + RELU + result(2), "0:0-1:0 1:1-2:0"),
    "rank_100000": ir(parameter(0, ",".join("1" * 100_000)) + RELU + result(2), "0:0-1:0 1:1-2:0"),
    "element_type_unknown": ir(parameter(0, "2", "f33") + RELU + result(2), "0:0-1:0 1:1-2:0"),
    "weights_too_short": weighted(0, 8, "2", bytes(4)),
    "weights_missing": file("m.xml", net(constant(0, 0, 8) + result(1), "0:0-1:0")),
    "weights_at_huge_offset": weighted(HUGE, 8, "2", bytes(8)),
    "weights_at_negative_offset": weighted(-8, 8, "2", bytes(8)),
    "weights_of_another_size": weighted(0, 4, "2", bytes(8)),
    "weights_of_a_terabyte": weighted(0, 1 << 40, str(1 << 38), sparse),
    "weights_whose_shape_overflows": weighted(0, 8, f"{1 << 32},{1 << 32},{1 << 32}", bytes(8)),
    "weights_in_a_fifo": weighted(0, 8, "2", os.mkfifo),
    "weights_on_a_device": weighted(0, 8, "2", lambda path: path.symlink_to("/dev/zero")),
    "weights_are_a_folder": weighted(0, 8, "2", lambda path: path.mkdir()),
    "weights_link_to_themselves": weighted(0, 8, "2", lambda path: path.symlink_to("m.bin")),
}

# ---- MLIR -------------------------------------------------------------------------------------------------------


def function(body: str, types: str = "tensor<2xf32>") -> str:
    return f"func.func @main(%x: {types}) -> {types} {{\n{body}\n}}\n"


def constants(text: str, type: str) -> Write:
    return file(
        "m.mlir",
        function(f'%c = "onnx.Constant"() {{value = {text} : {type}}} : () -> {type}\nreturn %x : tensor<2xf32>'),
    )


CHAIN = "\n".join(
    f'%v{k + 1} = "onnx.Neg"(%{"x" if not k else f"v{k}"}) : (tensor<2xf32>) -> tensor<2xf32>' for k in range(10_000)
)
MLIR: dict[str, Write] = {
    "right": file(
        "m.mlir", function('%y = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %y : tensor<2xf32>')
    ),
    "empty": file("m.mlir", ""),
    "no_text": file("m.mlir", bytes(range(256)) * 100),
    "invalid_utf8": file("m.mlir", b"func.func @m\xff\xfe() { return }"),
    "parentheses": file("m.mlir", "(" * 100_000),
    "braces": file("m.mlir", "module {" * 20_000),
    "attributes_in_attributes": file(
        "m.mlir",
        function(
            '%y = "onnx.Neg"(%x) {a = '
            + "[" * 50_000
            + "]" * 50_000
            + "} : (tensor<2xf32>) -> tensor<2xf32>\nreturn %y : tensor<2xf32>"
        ),
    ),
    "types_in_types": file(
        "m.mlir", "func.func @main(%x: " + "tuple<" * 20_000 + "f32" + ">" * 20_000 + ") { return }"
    ),
    "endless_text": file("m.mlir", 'func.func @main() { "' + "a" * 1_000_000),
    "huge_splat": constants("dense<1.0>", f"tensor<{1 << 40}xf32>"),
    "huge_product": constants("dense<1.0>", f"tensor<{1 << 32}x{1 << 32}x{1 << 32}xf32>"),
    "digits": constants("dense<" + "9" * 1_000_000 + ">", "tensor<1xi64>"),
    "exponent": constants("dense<1.0e999999999>", "tensor<1xf32>"),
    "too_few_elements": constants("dense<[1.0, 2.0]>", "tensor<3xf32>"),
    "hexadecimal_of_wrong_length": constants('dense<"0x00">', "tensor<3xf32>"),
    "resource_missing": constants("dense_resource<nothing>", "tensor<3xf32>"),
    "width_of_an_integer": file("m.mlir", function("return %x : tensor<2xi99999999>", "tensor<2xi99999999>")),
    "rank_20000": file("m.mlir", function("return %x : tensor<2xf32>").replace("2xf32", "1x" * 20_000 + "f32")),
    "value_of_nobody": file("m.mlir", function("return %nobody : tensor<2xf32>")),
    "value_twice": file(
        "m.mlir", function('%x = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %x : tensor<2xf32>')
    ),
    "reads_itself": file(
        "m.mlir", function('%y = "onnx.Neg"(%y) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %y : tensor<2xf32>')
    ),
    "calls_itself": file(
        "m.mlir", function("%y = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>\nreturn %y : tensor<2xf32>")
    ),
    "aliases_that_multiply": file(
        "m.mlir",
        "#a0 = [1, 1]\n"
        + "\n".join(f"#a{k + 1} = [#a{k}, #a{k}]" for k in range(60))
        + "\n"
        + function('%y = "onnx.Neg"(%x) {a = #a60} : (tensor<2xf32>) -> tensor<2xf32>\nreturn %y : tensor<2xf32>'),
    ),
    "alias_of_itself": file(
        "m.mlir",
        "#a = [#a]\n"
        + function('%y = "onnx.Neg"(%x) {a = #a} : (tensor<2xf32>) -> tensor<2xf32>\nreturn %y : tensor<2xf32>'),
    ),
    "chain_of_10000": file("m.mlir", function(CHAIN + "\nreturn %v10000 : tensor<2xf32>")),
}

# ---- MDF --------------------------------------------------------------------------------------------------------


def mdf(nodes: object, *connected: object, conditions: object = None) -> Write:
    return file("m.json", json.dumps(data(nodes, connected, conditions)))


def counting(value: object, **more: object) -> Write:
    return mdf({"A": node({"x": {"value": value, **more}}, ["x"])})


def function_of(name: str, **args: object) -> Write:
    return mdf({"A": node({"x": {"function": name, "args": args}}, ["x"])})


YAML_BOMB = "a0: &a0 [x, x]\n" + "\n".join(f"a{k + 1}: &a{k + 1} [*a{k}, *a{k}, *a{k}, *a{k}]" for k in range(40))
XML_BOMB = f'<!DOCTYPE n [<!ENTITY l0 "ha">{LAUGHS}]><Model id="m">&l30;</Model>'
MDF: dict[str, Write] = {
    "right": counting("x + 1", default_initial_value=0),
    "empty": file("m.json", ""),
    "no_json": file("m.json", "{" * 1000),
    "lists_in_lists": file("m.json", "[" * 100_000),
    "objects_in_objects": file("m.json", '{"a":' * 100_000 + "1" + "}" * 100_000),
    "digits": file("m.json", '{"m": {"format": ' + "9" * 1_000_000 + "}}"),
    "invalid_utf8": file("m.json", b'{"m": {"format": "\xff\xfe"}}'),
    "id_twice": file("m.json", '{"m": {"format": "ModECI MDF v0.4", "graphs": {"g": {"nodes": {"A": {}, "A": {}}}}}}'),
    "yaml_aliases": file("m.yaml", YAML_BOMB),
    "yaml_of_itself": file("m.yaml", "a: &a [*a]"),
    "yaml_object": file("m.yaml", "!!python/object/apply:os.system ['exit 3']"),
    "yaml_lists_in_lists": file("m.yaml", "[" * 20_000),
    "bson_length": file("m.bson", b"\xff\xff\xff\x7f" + bytes(100)),
    "bson_in_bson": file("m.bson", b"\x10\x00\x00\x00\x03a\x00" * 10_000),
    "xml_laughs": file("m.xml", XML_BOMB),
    "xml_deep": file("m.xml", '<Model id="m">' + "<a>" * 100_000),
    "expression_parentheses": counting("(" * 20_000 + "1" + ")" * 20_000),
    "expression_minus": counting("-" * 50_000 + "1"),
    "expression_of_a_megabyte": counting("1" + " + 1" * 250_000),
    "power_tower": counting("9**9**9**9**9"),
    "power_of_integers": counting("10**1000000000"),
    "shift": counting("1 << 100000000000"),
    "text_times": counting("'a' * 10**12"),
    "list_times": counting("[0] * 10**12"),
    "import": counting("__import__('os').system('exit 3')"),
    "attributes": counting("().__class__.__bases__[0].__subclasses__()"),
    "lambda": counting("(lambda f: f(f))(lambda f: f(f))"),
    "zeros": counting("numpy.zeros((10**6, 10**6))"),
    "nan": counting("float('nan')"),
    "parameter_of_itself": mdf({"A": node({"x": {"value": "y"}, "y": {"value": "x"}}, ["x"])}),
    "nodes_in_a_ring": mdf(
        {k: node({"p": {"value": "i"}}, ["p"], {"i": {}}) for k in "AB"}, "A.p -> B.i", "B.p -> A.i"
    ),
    "edge_to_nowhere": mdf({"A": node({"x": {"value": "1"}}, ["x"])}, "A.x -> B.i"),
    "shape_huge": mdf({"A": node({"x": {"value": "i"}}, ["x"], {"i": {"shape": [HUGE, HUGE]}})}),
    "shape_negative": mdf({"A": node({"x": {"value": "i"}}, ["x"], {"i": {"shape": [-3]}})}),
    "ngrams_of_integers": counting("x ** x", default_initial_value=10**15),
    "function_unknown": function_of("no_such", a=1),
    "onnx_tile": function_of("onnx::Tile", input=[1.0, 2.0], repeats=[HUGE]),
    "onnx_range": function_of("onnx::Range", start=0.0, limit=1.0, delta=1e-300),
    "onnx_constant_of_shape": function_of("onnx::ConstantOfShape", input=[1 << 40, 1 << 40]),
    "condition_never": mdf(
        {"A": node({"x": {"value": "1"}}, ["x"])}, conditions={"node_specific": {"A": {"type": "Never", "kwargs": {}}}}
    ),
    "conditions_of_each_other": mdf(
        {k: node({"x": {"value": "1"}}, ["x"]) for k in "AB"},
        conditions={
            "node_specific": {
                "A": {"type": "AfterNCalls", "kwargs": {"dependency": "B", "n": HUGE}},
                "B": {"type": "AfterNCalls", "kwargs": {"dependency": "A", "n": HUGE}},
            }
        },
    ),
    "conditions_in_conditions": mdf(
        {"A": node({"x": {"value": "1"}}, ["x"])},
        conditions={
            "node_specific": {
                "A": json.loads(
                    '{"type": "Not", "kwargs": {"condition":' * 400 + '{"type": "Always", "kwargs": {}}' + "}}" * 400
                )
            }
        },
    ),
}
FORMATS = {"openvino": OPENVINO, "mlir": MLIR, "mdf": MDF}
FILES: dict[str, Write] = {
    f"{format}/{name}": write for format, files in FORMATS.items() for name, write in files.items()
}
