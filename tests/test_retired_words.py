"""No new identifier has a retired word; the counts of those that have one shrink to nothing."""

from __future__ import annotations

import pytest
import retired_words

RENEW = "python tests/retired_words.py --write"


def test_list_counts_the_names_with_retired_words() -> None:
    numbers = retired_words.counts()
    listed = {folder: int(count) for folder, count in map(str.split, retired_words.LIST.read_text().splitlines())}
    more = {folder: count for folder, count in numbers.items() if count > listed.get(folder, 0)}
    assert not more, f"new names with a retired word; `python tests/retired_words.py {' '.join(more)}` lists them"
    assert numbers == listed, f"fewer names have a retired word than the list says: {RENEW}"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def find(place, *, n): pass", ["place"]),
        ("class HeldValue:\n  x: int", ["HeldValue"]),
        ("for found in y: a.kept = [told for told in found]", ["found", "kept", "told"]),
        ("match x:\n  case [said, *those]: pass", ["said", "those"]),
        ("import numpy as given\nfrom a import held", ["given"]),
        ("try: pass\nexcept E as asked: pass", ["asked"]),
        ("x = np.place(given, place=placeholder)", []),
    ],
)
def test_defined_names_with_retired_words(source: str, names: list[str]) -> None:
    assert sorted(name for _, name in retired_words.defined_names(source) if retired_words.retired(name)) == sorted(
        names
    )
