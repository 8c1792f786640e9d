"""The suite as files: any runner of onnx's backend tests reads models and values back as they are."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import whorl
from whorl.conformance import load_cases
from whorl.conformance.compare import difference
from whorl.conformance.export import export_suite

CASES = {case.name: case for case in load_cases()}
KINDS = "decided", "open", "errors", "checks"


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("suite") / "new"
    assert export_suite(folder) == 510
    return folder


def read(path: Path, type: onnx.TypeProto):
    data = path.read_bytes()
    if type.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    if type.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def read_all(folder: Path, prefix: str, infos) -> dict:
    paths = {info.name: (folder / f"{prefix}_{k}.pb", info.type) for k, info in enumerate(infos)}
    return {name: read(path, type) for name, (path, type) in paths.items() if path.exists()}


def test_every_case_is_in_one_folder(exported):
    names = [path.name for kind in KINDS for path in (exported / kind).iterdir()]
    assert sorted(names) == sorted(CASES)
    assert {path.name for path in exported.iterdir()} == {*KINDS, "README.md", "suite.json"}


@pytest.mark.parametrize("name", CASES)
def test_files_of_a_case_are_the_case(name, exported):
    (folder,) = exported.glob(f"*/{name}")
    case, metadata = CASES[name], json.loads((folder / "case.json").read_text(encoding="utf-8"))
    model = onnx.load(folder / "model.onnx")
    assert model == case.proto == onnx.parser.parse_model((folder / "model.onnxtxt").read_text(encoding="utf-8"))
    inputs = read_all(folder / "test_data_set_0", "input", model.graph.input)
    assert inputs.keys() == case.inputs.keys()
    assert difference(list(case.inputs.values()), [inputs[key] for key in case.inputs]) == ""
    outputs = read_all(folder / "test_data_set_0", "output", model.graph.output)
    assert difference(case.expected or (), list(outputs.values())) == ""
    assert (folder.parent.name == "errors") == case.error == metadata.get("error", False)
    assert len(metadata["clauses"]) == len(case.clauses) == len(metadata.get("decided_by", ()))
    if case.control is not None:
        control = read_all(folder / "control", "input", model.graph.input)
        assert difference(list(case.control.values()), list(control.values())) == ""


def test_loader_of_onnx_reads_the_folders(exported):
    tests = load_model_tests(str(exported), "decided")
    assert len(tests) == len(list((exported / "decided").iterdir())) > 300
    (swap,) = [test for test in tests if test.name == "swap_2_trips"]
    model = Path(swap.model_dir, "model.onnx")
    inputs = read_all(model.parent / "test_data_set_0", "input", onnx.load(model).graph.input)
    outputs = read_all(model.parent / "test_data_set_0", "output", onnx.load(model).graph.output)
    for value, expected in zip(whorl.InferenceSession(model).run(None, inputs), outputs.values(), strict=True):
        np.testing.assert_array_equal(value, expected)


def test_readme_counts_the_cases_and_explains_the_keys(exported):
    text = (exported / "README.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"| `{kind}` | {len(list((exported / kind).iterdir()))} |" in text
    assert "| `may_refuse` |" in text and "| `rows differ` |" in text


def test_chosen_cases_alone_are_written(tmp_path):
    assert export_suite(tmp_path / "few", ["while_limit_*"]) == 3


def test_folder_with_files_is_refused(tmp_path):
    (tmp_path / "mine").touch()
    with pytest.raises(whorl.SaveError) as caught:
        export_suite(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} is not empty\n  fix: name a new folder: cases of another version would mix with these"
    )
    with pytest.raises(whorl.SaveError, match=r"cannot write .*mine: File exists"):
        export_suite(tmp_path / "mine")
