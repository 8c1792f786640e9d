"""The table of signatures says what onnx's schemas say, and what of a node contradicts it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import onnx
import pytest

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.onnx.signatures import NEWEST, Parameters, check_node, signature_of

DOCS = Path(__file__).parents[3] / "docs"
SCHEMAS = onnx.defs.get_all_schemas_with_history()


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_signatures", DOCS / "make_signatures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_table_is_what_its_generator_writes(generator):
    assert generator.TABLE.read_text(encoding="utf-8") == generator.table(), "run `make docs`"


def parameters(formals, least: int, most: int) -> Parameters:
    single = frozenset(k for k, formal in enumerate(formals) if formal.option.name == "Single")
    return Parameters(tuple(formal.name for formal in formals), least, most, single)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: f"{schema.domain}{schema.name}-{schema.since_version}")
def test_signature_is_that_of_the_schema(schema):
    signature = signature_of(schema.name, schema.domain, schema.since_version)
    assert signature.since_version == schema.since_version
    assert signature.inputs == parameters(schema.inputs, schema.min_input, schema.max_input)
    assert signature.outputs == parameters(schema.outputs, schema.min_output, schema.max_output)
    assert signature.attributes == {name: int(each.type.value) for name, each in schema.attributes.items()}
    assert set(signature.required) == {name for name, each in schema.attributes.items() if each.required}
    assert signature.has_function == (schema.has_function or schema.has_context_dependent_function)


@pytest.mark.parametrize("version", range(1, NEWEST[""] + 1))
def test_version_that_applies_is_that_of_onnx(version):
    for name in {schema.name for schema in SCHEMAS if schema.domain == ""}:
        if onnx.defs.has(name, version, ""):
            expected = onnx.defs.get_schema(name, version, "").since_version
            assert signature_of(name, "", version).since_version == expected


def test_newest_versions_are_the_ones_of_onnx():
    assert NEWEST.keys() == {schema.domain for schema in SCHEMAS}
    assert NEWEST[""] == onnx.defs.onnx_opset_version()


@pytest.mark.parametrize(
    ("name", "domain", "version", "message"),
    [
        ("CumSum", "", 9, "CumSum came with version 11; the model imports ai.onnx 9"),
        ("Clip", "", 0, "Clip came with version 1; the model imports ai.onnx 0"),
        ("TreeEnsemble", "ai.onnx.ml", 4, "TreeEnsemble came with version 5; the model imports ai.onnx.ml 4"),
        ("Mystery", "", 21, "Mystery is not an operator of ai.onnx 21"),
        ("Mystery", "elsewhere", 1, "Mystery is not an operator of elsewhere 1"),
        ("CumSum", "ai.onnx.ml", 3, "CumSum is not an operator of ai.onnx.ml 3"),
    ],
)
def test_operator_that_the_version_lacks_is_named_with_its_first_version(name, domain, version, message):
    with pytest.raises(UnsupportedError) as caught:
        signature_of(name, domain, version)
    assert str(caught.value) == message


@pytest.mark.parametrize(("version", "since"), [(6, 6), (10, 6), (11, 11), (12, 12), (28, 13)])
def test_the_newest_version_up_to_the_import_applies(version, since):
    assert signature_of("Clip", "", version).since_version == since


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (onnx.helper.make_node("Concat", [], ["y"], axis=0), "has 0 inputs, version 13 takes at least 1"),
        (onnx.helper.make_node("Neg", ["x", "x"], ["y"]), "has 2 inputs, version 13 takes 1"),
        (onnx.helper.make_node("Conv", ["x"], ["y"]), "has 1 inputs, version 22 takes 2 to 3"),
        (
            onnx.helper.make_node("Conv", ["x", "", "b"], ["y"]),
            "input 1 (W) is missing\n  fix: give the input a name",
        ),
        (onnx.helper.make_node("Neg", ["x"], ["y", "z"]), "has 2 outputs, version 13 takes 1"),
        (
            onnx.helper.make_node("Neg", ["x"], ["y"], axis=1),
            "has the attribute 'axis', which version 13 does not know",
        ),
        (onnx.helper.make_node("Concat", ["x"], ["y"], axis=1.0), "attribute 'axis' is FLOAT, expected INT"),
        (onnx.helper.make_node("Concat", ["x"], ["y"]), "lacks the attribute 'axis'"),
    ],
)
def test_node_that_contradicts_its_signature(node, message):
    with pytest.raises(LoadError) as caught:
        check_node(node, node.attribute, signature_of(node.op_type, "", 28))
    assert str(caught.value) == message
