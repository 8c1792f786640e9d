"""Points of sweeps: grids, samples, and how they are written."""

import subprocess
import sys

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.scoring.designs import Design, Range, coordinates, design_of, read_range, read_values


def columns(design, whole=frozenset()):
    return design.table(frozenset(whole)).to_pydict()


def test_grid_has_all_combinations():
    design = design_of({"grid": {"a": [1, 2], "b": {"from": 0, "to": 1, "count": 3}}})
    assert columns(design) == {"a": [1, 1, 1, 2, 2, 2], "b": [0, 0.5, 1, 0, 0.5, 1]}
    assert design.shape == (2, 3) and coordinates(design, design.table()) == {"a": [1, 2], "b": [0, 0.5, 1]}


@pytest.mark.parametrize("method", ["random", "latin", "sobol"])
def test_samples_lie_in_their_ranges(method):
    data = {"random": {"a": {"from": -1, "to": 1}, "b": {"from": 0.01, "to": 100, "log": True}}, "points": 24}
    actual = columns(design_of(data | {"method": method, "seed": 3}))
    assert min(actual["a"]) >= -1 and max(actual["a"]) <= 1
    assert min(actual["b"]) >= 0.01 and max(actual["b"]) <= 100 and np.median(actual["b"]) < 10
    assert actual == columns(design_of(data | {"method": method, "seed": 3}))
    assert actual != columns(design_of(data | {"method": method, "seed": 4}))


def test_latin_hypercube_has_one_sample_in_each_slice():
    design = Design(random={"a": Range(0, 1)}, points=10, method="latin")
    assert sorted(int(10 * value) for value in columns(design)["a"]) == list(range(10))


def test_whole_numbers_have_both_ends():
    design = Design(grid={"a": [1.0, 2.0]}, random={"b": Range(1, 3)}, points=64)
    actual = columns(design, {"a", "b"})
    assert {type(value) for value in actual["a"]} == {int} and set(actual["b"]) == {1, 2, 3}


def test_each_point_of_a_grid_has_the_samples():
    actual = columns(Design(grid={"a": [1, 2]}, random={"b": Range(0, 1)}, points=2))
    assert actual["a"] == [1, 1, 2, 2] and actual["b"][:2] == actual["b"][2:]


def test_values_may_be_lists():
    assert columns(design_of({"grid": {"a": [[1, 2], [3, 4]]}})) == {"a": [[1, 2], [3, 4]]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0:1:3", {"from": 0, "to": 1, "count": 3}), ("1,2.5", [1, 2.5]), ("a,b", ["a", "b"])],
)
def test_grid_is_read_of_text(text, expected):
    assert read_values(text) == expected


def test_range_is_read_of_text():
    assert read_range("0:1") == {"from": 0, "to": 1, "log": False}
    assert read_range("0.1:1:log") == {"from": 0.1, "to": 1, "log": True}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"grids": {}}, "a sweep has no 'grids'\n  fix: choose from grid, random, points, method, seed"),
        ({}, "a sweep needs values\n  fix: give a grid or random ranges"),
        ({"grid": [1]}, "grid is [1], expected entries by name"),
        ({"grid": {"a": "x"}}, "grid 'a' is 'x', expected a list of values, or from, to and count"),
        (
            {"grid": {"a": {"from": 0, "to": 1}}},
            "grid 'a' is {'from': 0, 'to': 1}, and needs a count\n  fix: write {from: 0, to: 1, count: 11}",
        ),
        (
            {"random": {"a": 1}},
            "random 'a' is 1, expected from and to\n"
            "  fix: write {from: 0, to: 1}, with log: true for a range over decades",
        ),
        (
            {"random": {"a": {"from": 1}}},
            "random 'a' is {'from': 1}, expected from and to\n"
            "  fix: write {from: 0, to: 1}, with log: true for a range over decades",
        ),
        (
            {"random": {"a": {"from": 0, "to": 1, "log": True}}, "points": 1},
            "random 'a' goes from 0.0 to 1.0\n  fix: order the ends; those of a log range are above 0",
        ),
        (
            {"random": {"a": {"from": 0, "to": 1}}},
            "points is 0\n  fix: give the number of samples beside random ranges, and no other time",
        ),
        (
            {"grid": {"a": [1]}, "method": "sobel"},
            "there is no method 'sobel'\n  fix: choose from random, latin, sobol",
        ),
        (
            {"grid": {"a": [1]}, "random": {"a": {"from": 0, "to": 1}}, "points": 1},
            "'a' has both a grid and a random range\n  fix: choose one",
        ),
    ],
)
def test_wrong_design_is_refused(data, message):
    with pytest.raises(RunError) as error:
        design_of(data)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_values, "0:1:x", "'0:1:x' is no grid\n  fix: write from:to:count, or values between commas"),
        (read_range, "0", "'0' is no range\n  fix: write from:to, or from:to:log"),
        (read_range, "0:1:lag", "'0:1:lag' is no range\n  fix: write from:to, or from:to:log"),
    ],
)
def test_wrong_text_is_refused(read, text, message):
    with pytest.raises(RunError) as error:
        read(text)
    assert str(error.value) == message


def test_grid_of_points_needs_no_statistics():
    """SciPy's take two seconds to import."""
    script = (
        "import sys; from whorl.scoring.designs import design_of; design_of({'grid': {'a': [1, 2]}}).table()\n"
        "assert 'scipy.stats' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
