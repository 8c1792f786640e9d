"""The C example runs without Python and gives what a session gives; the scripts on MDF models and the notebook run."""

import json
import re
import runpy
import subprocess
from pathlib import Path

import numpy as np
import pytest
from compilers import C, needs_linker

import whorl
from whorl.cli import main

EXAMPLES = Path(__file__).parents[1] / "examples"
NEURON = re.compile(r"neuron (\d+): current (\S+), v (\S+), w (\S+), (\d+) spikes")


@needs_linker
@pytest.mark.parametrize("kind", ["o", "so"])
def test_neurons_in_c_do_as_in_a_session(tmp_path, capsys, kind):
    library, header, program = tmp_path / f"libneurons.{kind}", tmp_path / "neurons.h", tmp_path / "neurons"
    source = EXAMPLES / "neurons.onnxtxt"
    passed = ["--dim", "n=8", "--input", "steps=1000", "--header", str(header)]
    assert main(["compile", str(source), "-o", str(library), *passed]) == 0
    assert "output  trace: float32[1000, 8]" in capsys.readouterr().out

    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    command = [*C, *strict, f"-I{tmp_path}", EXAMPLES / "neurons.c", library, "-lm", "-o", program]
    subprocess.run([*command, f"-Wl,-rpath,{tmp_path}"], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout

    current = 0.125 * np.arange(8, dtype=np.float32)
    feeds = {"v0": np.full(8, -1, np.float32), "w0": np.zeros(8, np.float32), "current": current}
    v, w, trace = whorl.InferenceSession(source).run(None, feeds | {"steps": np.array(1000)})
    spikes = ((trace[:-1] < 1) & (trace[1:] >= 1)).sum(0)
    actual = np.array([row.groups() for row in NEURON.finditer(printed)], float)
    np.testing.assert_allclose(actual, np.column_stack([np.arange(8), current, v, w, spikes]), atol=2e-6)


@pytest.mark.parametrize("name", ["fitzhugh_nagumo", "hodgkin_huxley"])
def test_script_on_an_mdf_model_runs(name, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert "spikes" in capsys.readouterr().out


def test_cells_of_the_notebook_run_and_hold_no_outputs(monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib draws the plots")
    pytest.importorskip("xarray")
    monkeypatch.chdir(EXAMPLES)
    notebook = json.loads((EXAMPLES / "inside_a_loop.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names = {}
    for cell in cells:
        exec("".join(cell["source"]), names)
    assert (len(cells), [cell["outputs"] for cell in cells if cell["outputs"]]) == (6, [])
    assert names["trace"]["text.9"].attrs["ragged"] == "shapes differ"
    assert names["located"].loops == [("/Loop", 1)]
    assert "torchscript_decoder.onnx" in names["page"].html
