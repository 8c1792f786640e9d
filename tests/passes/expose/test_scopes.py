"""Regions as a tree, and paths of values."""

from __future__ import annotations

import pytest
from traced_models import NESTED

import whorl
from whorl.passes.expose.scopes import choose, scopes_of, values_at, values_in


def test_scopes_are_listed_outer_before_inner() -> None:
    scopes = scopes_of(whorl.load(NESTED))
    assert [scope.path for scope in scopes] == [
        "",
        "outer",
        "outer/inner",
        "outer/inner/choice/then_branch",
        "outer/inner/choice/else_branch",
    ]
    assert [scope.path for scope in scopes[3].loops] == ["outer", "outer/inner"]
    assert [each.path for each in values_in(scopes[0])] == ["n", "x", "y", "z"]


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("outer/inner/v", ["outer/inner/v"]),
        ("v", ["outer/inner/v"]),
        ("inner/?", ["outer/inner/j", "outer/inner/p", "outer/inner/u", "outer/inner/q", "outer/inner/v"]),
        ("then_branch/*", ["outer/inner/choice/then_branch/w"]),
    ],
)
def test_globs_match_paths_their_ends_and_names(pattern: str, paths: list[str]) -> None:
    scopes = scopes_of(whorl.load(NESTED))
    assert [each.path for each in choose(scopes, [pattern])] == paths
    assert [each.path for each in values_at(scopes, paths)] == paths


def test_equal_names_get_numbers() -> None:
    module = whorl.load(NESTED)
    for value in scopes_of(module)[2].region.arguments:
        value.name = "same"
    paths = [each.path for each in values_in(scopes_of(module)[2])]
    assert paths[:3] == ["outer/inner/same", "outer/inner/same#2", "outer/inner/same#3"]
