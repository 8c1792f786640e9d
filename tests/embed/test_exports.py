"""Models that exporters wrote with loops and branches in them: embedded, onnxruntime gives what it gave without."""

import numpy as np
import pytest
from exports.harness import Export, compare, require_all

from embed.running import embedded_session, plain_session

require_all()

from exports import jax_export, jax_loops, test_silero, torch_export, torch_indexing, torch_loops, torch_networks  # noqa: E402
from exports.test_jax import REFUSED  # noqa: E402

pytestmark = pytest.mark.slow
DRAWS = 3
TORCH = torch_indexing.TABLE.cases | torch_loops.TABLE.cases | torch_networks.TABLE.cases
SCRIPTED = (
    *("scatter_reduce", "for_over_rows", "list_append_and_stack", "list_append_and_concatenate", "list_of_columns"),
    *("while_over_tensor", "while_with_counter", "if_on_sum", "if_in_loop", "loop_in_loop", "break_at_negative"),
    *("assign_rows_in_loop", "assign_element_in_loop", "assign_mask_in_loop", "columns_in_loop", "growing_in_loop"),
    *("greedy_decode", "split_in_loop", "last_parts_first", "euler_steps", "if_by_shape", "mamba_block"),
)
"""Cases that TorchScript exports with control flow."""
GRAPHS = ("cond", "cond_nested", "while_loop", "while_loop_until_small", "scan", "scan_reverse")
"""Cases that dynamo exports with control flow."""


def check(export: Export, folder) -> None:
    model = export.model.SerializeToString()
    plain, (session, made) = plain_session(model), embedded_session(model, folder)
    assert made.library and not [region for region in made.regions if region.reason]
    for draw in range(DRAWS):
        for position, shape in enumerate(export.shapes):
            feeds = export.draw(shape, np.random.default_rng([draw, position]))
            compare(plain.run(None, feeds), session.run(None, feeds), export.amplification, f"shape {shape}")


@pytest.mark.parametrize("name", SCRIPTED)
def test_scripts_of_torch(tmp_path, name):
    check(torch_export.export_of(TORCH[name], "script"), tmp_path)


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_of_dynamo(tmp_path, name):
    check(torch_export.export_of(TORCH[name], "dynamo"), tmp_path)


@pytest.mark.parametrize("name", [name for name in jax_loops.TABLE.cases if name not in REFUSED])
def test_loops_of_jax(tmp_path, name):
    check(jax_export.export_of(jax_loops.TABLE.cases[name]), tmp_path)


@pytest.mark.parametrize("rate", [8000, 16000])
def test_stream_of_silero(tmp_path, rate):
    file = test_silero.FILES / "silero_vad.onnx"
    chunks = test_silero.speak(rate, 2)[:20]
    session, made = embedded_session(file, tmp_path)
    assert made.library
    expected, actual = (test_silero.stream(each, chunks, rate) for each in (plain_session(str(file)), session))
    compare(expected, actual, test_silero.AMPLIFICATION, f"rate {rate}")
