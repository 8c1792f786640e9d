"""Functions and networks of torch, exported by dynamo, by tracing and by scripting, give what torch gives."""

import pytest

from exports.harness import check, require_all

require_all()

from exports import torch_images, torch_indexing, torch_loops, torch_networks  # noqa: E402
from exports.torch_export import export_of  # noqa: E402

pytestmark = pytest.mark.slow
CASES = torch_images.TABLE.cases | torch_indexing.TABLE.cases | torch_loops.TABLE.cases | torch_networks.TABLE.cases
PAIRS = [(name, exporter) for name, case in CASES.items() for exporter in case.exporters]
REFUSED = {
    ("masked_select", "dynamo"): r"No ONNX function found for <OpOverload\(op='aten.masked_select'",
    ("cdist", "dynamo"): r"No ONNX function found for <OpOverload\(op='aten._cdist_forward'",
    ("einsum", "dynamo"): "tracing inferred a static shape of 5",
    ("rnn", "dynamo"): "tracing inferred a static shape of 5",
    ("scripted_cell", "script"): "expected node type prim::ListConstruct",
    ("encoder_layer", "trace"): "is_causal.* must be bool, not Tensor",
}
"""What the exporters say of the cases that they cannot export."""


@pytest.mark.parametrize(("name", "exporter"), [pair for pair in PAIRS if pair not in REFUSED])
def test_function(name, exporter):
    check(export_of(CASES[name], exporter))


@pytest.mark.parametrize(("name", "exporter"), REFUSED)
def test_function_is_refused_by_the_exporter(name, exporter):
    with pytest.raises(Exception, match=REFUSED[name, exporter]):
        export_of(CASES[name], exporter)
