"""Damaged model files: the loader refuses them with a LoadError or reads them, in bounded time and memory.

Bytes are flipped, cut and copied; graphs are changed field by field. Each file is loaded in a process with a limit on
its memory, which must answer in time.
"""

import os
from concurrent.futures import ProcessPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import ModelProto

import whorl
from fuzz import campaign
from whorl.conformance.cases import load_cases

EXAMPLES = int(os.environ.get("WHORL_FUZZ_EXAMPLES", "200"))
SECONDS = 20.0
MEMORY = 4 << 30
MODELS = [case.data for case in load_cases()][::7]
fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    print_blob=True,
    derandomize="WHORL_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


def limit_memory() -> None:
    campaign.limit_memory(MEMORY)


def outcome(data: bytes) -> str:
    """`read`, `refused`, or what else came out of the loader."""
    try:
        whorl.InferenceSession(data)
    except whorl.LoadError as error:
        return "refused" if str(error) else "an error without a text"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "read"


@pytest.fixture(scope="module")
def load():
    with ProcessPoolExecutor(1, initializer=limit_memory) as pool:
        yield lambda data: pool.submit(outcome, data).result(timeout=SECONDS)


@st.composite
def damaged_bytes(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(MODELS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from(("flip", "cut", "copy", "drop"))):
            case "flip" if data:
                data[at] = draw(st.integers(0, 255))
            case "cut":
                del data[at:]
            case "copy":
                data[at:at] = data[: draw(st.integers(0, 64))]
            case "drop":
                del data[at : at + draw(st.integers(1, 16))]
    return bytes(data)


def graphs_of(model: ModelProto) -> list:
    actual = [model.graph]
    for graph in actual:
        actual += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return actual


@st.composite
def damaged_graphs(draw: st.DrawFn) -> bytes:
    """A model whose graphs say something else: other names, types, dims, attributes, or nodes left out or doubled."""
    model = ModelProto()
    model.ParseFromString(draw(st.sampled_from(MODELS)))
    for _ in range(draw(st.integers(1, 4))):
        graph = draw(st.sampled_from(graphs_of(model)))
        names = [name for node in graph.node for name in (*node.input, *node.output)] + ["", "nowhere"]
        node = draw(st.sampled_from(list(graph.node))) if graph.node else None
        infos = [*graph.input, *graph.output, *graph.value_info]
        match draw(st.integers(0, 9)):
            case 0 if node is not None and node.input:
                node.input[draw(st.integers(0, len(node.input) - 1))] = draw(st.sampled_from(names))
            case 1 if node is not None and node.output:
                node.output[draw(st.integers(0, len(node.output) - 1))] = draw(st.sampled_from(names))
            case 2 if node is not None:
                node.op_type = draw(st.sampled_from(("Loop", "Scan", "If", "Add", "Reshape", "Nothing", "")))
            case 3 if node is not None and node.attribute:
                attribute = draw(st.sampled_from(list(node.attribute)))
                attribute.type = draw(st.integers(0, 14))
                attribute.i = draw(st.integers(-(2**63), 2**63 - 1))
                attribute.ints.append(draw(st.integers(-(2**63), 2**63 - 1)))
            case 4 if node is not None:
                graph.node.add().CopyFrom(node)
            case 5 if graph.node:
                del graph.node[draw(st.integers(0, len(graph.node) - 1))]
            case 6 if infos:
                info = draw(st.sampled_from(infos))
                info.type.tensor_type.elem_type = draw(st.integers(-1, 40))
                info.type.tensor_type.shape.dim.add().dim_value = draw(st.sampled_from((-5, 0, 1 << 40, (1 << 63) - 1)))
            case 7 if graph.initializer:
                tensor = draw(st.sampled_from(list(graph.initializer)))
                tensor.dims.append(draw(st.sampled_from((-1, 0, 2, 1 << 40, (1 << 63) - 1))))
            case 8:
                graph.output.add().name = draw(st.sampled_from(names))
            case 9:
                model.opset_import[0].version = draw(st.integers(-1, 40))
    return model.SerializeToString()


@pytest.mark.slow
@fuzz
@given(data=damaged_bytes())
def test_damaged_bytes_are_read_or_refused(load, data):
    assert load(data) in ("read", "refused")


@pytest.mark.slow
@fuzz
@given(data=damaged_graphs())
def test_damaged_graphs_are_read_or_refused(load, data):
    assert load(data) in ("read", "refused")
