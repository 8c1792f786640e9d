"""Runs of edited modules under the options of the command line."""

from argparse import Namespace

import numpy as np
from traced_models import GRID, X

import whorl as package
from whorl.cli.running import run_module


def test_all_outputs_come_back():
    options = Namespace(max_memory=None, max_iterations=None, timeout=None, backend="interpreter")
    (y,) = run_module(options, package.load(GRID), {"x": X[:2]})
    np.testing.assert_array_equal(y, X[:2] + 9)
