"""Programs of all native ops by form, element type and position: a slice of them here, `make fuzz` runs many.

`python -m fuzz 1000 SEED`, with tests on PYTHONPATH, runs a thousand of another seed.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.cell_runs import fault_of
from fuzz.cells import POSITIONS, all_cells, all_forms, native_ops, without_cells
from fuzz.minimise import from_text, to_text

TESTS = Path(__file__).parents[1]
REGRESSIONS = sorted((TESTS / "fuzz" / "regressions" / "cells").glob("*.txt"))
SEED, SLICES, PROGRAMS = 20_26, 2, 30


def test_every_native_op_has_cells_or_a_reason():
    covered = {cell.op for cell in all_cells()}
    assert set(native_ops()) - covered == without_cells().keys()
    assert {cell.position for cell in all_cells()} == set(POSITIONS)


def test_forms_say_what_their_schemas_say():
    for form in all_forms():
        for dtype in form.dtypes():
            assert len(form.result_dtypes(dtype)) == len(form.results), form


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
def test_programs_run_alike_on_all_backends(part, tmp_path):
    """In a process of its own, where memory is poisoned and no fault of lowering is hidden."""
    paths = [str(TESTS), *filter(None, sys.path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "WHORL_DEBUG": "poison,strict"}
    command = [sys.executable, "-m", "fuzz", str(PROGRAMS), str(SEED), "--first", str(part * PROGRAMS)]
    command += ["--folder", str(tmp_path), "--seconds", "20"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    written = "\n".join(path.read_text() for path in tmp_path.iterdir())
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{written}"


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_program_that_once_failed(path):
    program = from_text(path.read_text(encoding="utf-8"))
    assert from_text(to_text(program)).data == program.data
    fault, _ = fault_of(program)
    assert fault is None, fault
