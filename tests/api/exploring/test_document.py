"""The document of a page."""

import numpy as np
from api.exploring.test_packing import unpack
from traced_models import NESTED, X

import whorl
from whorl.api.exploring.document import Shown, seal_document


def test_document_without_a_trace_has_the_bodies() -> None:
    document, _ = unpack(seal_document(Shown(title="a", module=whorl.load(NESTED))))
    assert (document["title"], len(document["bodies"])) == ("a", 5)
    assert "traces" not in document


def test_document_has_trip_counts_and_branches_of_a_trace() -> None:
    trace = whorl.trace(NESTED, {"n": np.array(3), "x": X})
    document, read = unpack(seal_document(Shown(title="a", module=whorl.load(NESTED), traces=[trace], names=["this"])))
    (shown,) = document["traces"]
    assert read(shown["trips"]["outer/inner"]["numbers"]).tolist() == [0, 1, 2]
    assert read(shown["branches"]["outer/inner/choice"]["numbers"]).tolist() == [0, 0, 0]
    assert [axis["loops"] for axis in shown["axes"]] == [["outer"], ["outer", "outer/inner"]]
