"""Exports of the other frameworks, converted once more by OpenVINO and saved as IR, give what the framework gives."""

import dataclasses

import onnx
import pytest

import whorl
from exports.harness import Export, check, require_all

require_all()

import openvino  # noqa: E402

from exports import jax_export, sklearn_models, test_jax, test_sklearn, test_torch, torch_export  # noqa: E402

pytestmark = pytest.mark.slow
CASES = [
    ("sklearn", "gaussian_process_rbf", ""),
    ("sklearn", "mlp_regressor", ""),
    ("sklearn", "pca_whitened", ""),
    ("torch", "perceptron", "trace"),
    ("torch", "convolutions", "trace"),
    ("torch", "lstm", "trace"),
    ("torch", "gru", "trace"),
    ("torch", "attention_with_cache", "trace"),
    ("torch", "masked_fill", "trace"),
    ("torch", "scatter_add", "trace"),
    ("torch", "list_append_and_stack", "script"),
    ("torch", "for_over_rows", "script"),
    ("torch", "while_with_counter", "script"),
    ("torch", "if_on_sum", "script"),
    ("torch", "loop_in_loop", "script"),
    ("jax", "fori_loop_squares", ""),
    ("jax", "scan_updates_at_index", ""),
    ("jax", "while_loop", ""),
    ("jax", "scan", ""),
    ("jax", "scan_of_rnn", ""),
    ("jax", "cond", ""),
    ("jax", "dynamic_update_slice", ""),
]

REFUSED = {
    ("sklearn", "k_neighbors_regressor", ""): "No conversion rule found for operations: ai.onnx.ml",
    ("jax", "while_loop_of_integers", ""): "loop body graph canonical inputs size",
    ("sklearn", "logistic_regression_raw_scores", ""): "No conversion rule found for operations: ai.onnx.ml",
    ("jax", "fori_loop_over_columns", ""): "loop body graph canonical inputs size",
    ("jax", "fori_loop_nested", ""): "loop body graph canonical inputs size",
}
"""What OpenVINO says of the models that it cannot convert."""


@pytest.fixture(autouse=True)
def untold(monkeypatch):
    """OpenVINO tells its makers of a conversion, from a forked process, except in continuous integration."""
    monkeypatch.setenv("CI", "true")


def export_of(framework: str, name: str, exporter: str) -> Export:
    match framework:
        case "sklearn":
            return sklearn_models.export_of(test_sklearn.CASES[name])
        case "torch":
            return torch_export.export_of(test_torch.CASES[name], exporter)
        case _:
            return jax_export.export_of(test_jax.CASES[name])


def converted(export: Export, folder) -> Export:
    """The same export as IR, whose inputs are in the same order."""
    onnx.save(export.model, folder / "model.onnx")
    openvino.save_model(openvino.convert_model(folder / "model.onnx"), folder / "model.xml", compress_to_fp16=False)
    names = [argument.name for argument in whorl.InferenceSession(folder / "model.xml").get_inputs()]
    return dataclasses.replace(
        export,
        model=folder / "model.xml",
        draw=lambda shape, rng: dict(zip(names, export.draw(shape, rng).values(), strict=True)),
        expect=lambda feeds: export.expect(dict(zip(originals(export), feeds.values(), strict=True))),
    )


def originals(export: Export) -> list[str]:
    return [value.name for value in export.model.graph.input]


@pytest.mark.parametrize(("framework", "name", "exporter"), CASES)
def test_conversion(framework, name, exporter, tmp_path):
    check(converted(export_of(framework, name, exporter), tmp_path))


@pytest.mark.parametrize(("framework", "name", "exporter"), REFUSED)
def test_conversion_is_refused_by_openvino(framework, name, exporter, tmp_path):
    with pytest.raises(Exception, match=REFUSED[framework, name, exporter]):
        converted(export_of(framework, name, exporter), tmp_path)
