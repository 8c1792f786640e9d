"""Models of jax, by jax2onnx, lose their loops and give what jax gives."""

import pytest

pytest.importorskip("jax2onnx", reason="jax2onnx is not installed: `make test-exports` installs it")

from exports import jax_loops
from exports.jax_export import export_of

from deloop import jax_cells
from deloop.exported import check_without_loops

pytestmark = pytest.mark.slow
LOOPS = ("fori_loop_over_columns", "fori_loop_sets_columns", "fori_loop_reads_what_it_wrote", "fori_loop_swaps")
CELLS = {"lstm": "LSTM", "lstm_of_one_matrix": "LSTM", "gru": "GRU"}


@pytest.mark.parametrize("name", LOOPS)
def test_loop_goes(name):
    check_without_loops(export_of(jax_loops.TABLE.cases[name]))


@pytest.mark.parametrize("name", CELLS)
def test_cell_becomes_its_op(name):
    check_without_loops(export_of(jax_cells.TABLE.cases[name]), CELLS[name])
