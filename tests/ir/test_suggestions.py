"""Names that an error suggests."""

import pytest

from whorl.ir.suggestions import choose, suggest


@pytest.mark.parametrize(
    ("name", "known", "fix"),
    [("Gathr", ["Gather", "Scatter"], "did you mean 'Gather'?"), ("x", ["Gather"], ""), ("x", [], "")],
)
def test_near_name_is_suggested(name: str, known: list[str], fix: str) -> None:
    assert suggest(name, known) == fix


@pytest.mark.parametrize(
    ("known", "fix"),
    [(["images", "size"], "did you mean 'images'?"), (["a", "b"], "choose from a, b"), ([], "choose from none")],
)
def test_all_names_are_listed_where_none_is_near(known: list[str], fix: str) -> None:
    assert choose("image", known) == fix


def test_name_may_be_no_text() -> None:
    assert choose(1, ["x", "y"]) == "choose from x, y"
    assert suggest((1,), ["x"]) == ""
