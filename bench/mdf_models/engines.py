"""What the models run on: whorl, C where there is a compiler, modeci_mdf as it is and without its debug strings."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import io
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import whorl
from mdf_models.models import Case

SOURCE = Path(__file__).with_name("neurons.c")
FLAGS = ("-O3", "-march=native", "-fPIC", "-shared")
ROUNDED = ("-ffp-contract=off",)
"""Every product is rounded, as NumPy and MDF's reference have it; else products and sums become one operation."""
Records = dict[str, np.ndarray]


def compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@functools.cache
def library(flags: tuple[str, ...]) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "neurons.so"
        subprocess.run([str(compiler()), *FLAGS, *flags, str(SOURCE), "-o", str(path), "-lm"], check=True)
        return ctypes.CDLL(str(path))


def in_whorl(case: Case, path: Path) -> Callable[[], Records]:
    """A simulation by whorl, arrays of all records included."""
    model = whorl.load(path, integrator=case.integrator)
    return lambda: dict(model.simulate(case.steps, case.dt, record=case.names))


def in_c(case: Case, flags: tuple[str, ...]) -> Callable[[], Records]:
    """The same steps in C, into arrays that are there before."""
    n = np.size(case.start[0])
    states = [np.atleast_1d(np.array(value, float)) for value in case.start]
    fixed = [np.ascontiguousarray(value, float) for value in case.arrays]
    rows = [np.empty((case.steps, n)) for _ in case.record]
    function = getattr(library(flags), case.function)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*states, *fixed, *rows)]
    passed = ctypes.c_int64(n), ctypes.c_int64(case.steps), ctypes.c_double(case.dt), *pointers

    def run(stored: object = fixed) -> Records:
        for state, value in zip(states, case.start, strict=True):
            state[:] = value
        function(*passed)
        return dict(zip(case.names, rows, strict=True))

    return run


def has_modeci() -> bool:
    return importlib.util.find_spec("modeci_mdf") is not None


def in_modeci(case: Case, path: Path, calls: int) -> tuple[Callable[[], None], Callable[[], Records]]:
    """What makes one more evaluation, and what answers the records of the evaluations so far."""
    engines = importlib.import_module("modeci_mdf.execution_engine")
    utils = importlib.import_module("modeci_mdf.utils")
    with quiet():
        graph = engines.EvaluableGraph(utils.load_mdf(str(path)).graphs[0], verbose=False)
        graph.evaluate()
    rows: dict[str, list[Any]] = {name: [] for name in case.names}
    outputs = graph.enodes["cell"].evaluable_outputs

    def evaluate() -> None:
        with quiet():
            for _ in range(calls):
                graph.evaluate(time_increment=case.dt)
                for name, id in zip(case.names, case.record, strict=True):
                    rows[name].append(np.array(outputs[id].curr_value, float))

    return evaluate, lambda: {name: np.array(values) for name, values in rows.items()}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield


@contextlib.contextmanager
def without_debug_strings() -> Iterator[None]:
    """modeci_mdf formats all parameters for every expression and prints none of it; here it formats nothing."""
    modules = [importlib.import_module(name) for name in ("modelspec.utils", "modeci_mdf.execution_engine")]
    names = ("_params_info", "_val_info")
    before = [(module, name, getattr(module, name)) for module in modules for name in names]
    for module, name, _ in before:
        setattr(module, name, lambda *passed, **options: "")
    try:
        yield
    finally:
        for module, name, function in before:
            setattr(module, name, function)
