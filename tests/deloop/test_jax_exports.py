"""Models of jax, by jax2onnx, lose their loops and give what jax gives."""

import pytest
from exports.harness import require_all

require_all()

from exports import jax_loops  # noqa: E402
from exports.jax_export import export_of  # noqa: E402

from deloop import jax_cells  # noqa: E402
from deloop.exported import check_without_loops  # noqa: E402

pytestmark = pytest.mark.slow
LOOPS = ("fori_loop_over_columns", "fori_loop_sets_columns", "fori_loop_reads_what_it_wrote", "fori_loop_swaps")
CELLS = {"lstm": "LSTM", "lstm_of_one_matrix": "LSTM", "gru": "GRU"}


@pytest.mark.parametrize("name", LOOPS)
def test_loop_goes(name):
    check_without_loops(export_of(jax_loops.TABLE.cases[name]))


@pytest.mark.parametrize("name", CELLS)
def test_cell_becomes_its_op(name):
    check_without_loops(export_of(jax_cells.TABLE.cases[name]), CELLS[name])
