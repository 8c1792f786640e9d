"""State of the reader in one net: options, bodies around it, and locations for messages."""

import numpy as np
import pytest

from whorl.errors import LoadError
from whorl.formats.openvino.document import Layer
from whorl.formats.openvino.reading.context import IrOptions, ReadContext
from whorl.formats.openvino.weights.read import Weights
from whorl.ir.graph import Region
from whorl.ir.types import TensorType

LAYER = Layer(1, "a", "Add", "opset1", line=7)


def context(**options: object) -> ReadContext:
    return ReadContext(Weights(b""), IrOptions(**options))  # type: ignore[arg-type]


def test_location_names_the_layer_its_line_and_the_bodies_around_it() -> None:
    inner = context().inside("body of Loop 'l'").inside("then_body of If 'i'")
    assert inner.location(LAYER) == "Add 'a' (line 7) in then_body of If 'i' in body of Loop 'l'"
    assert inner.location() == "then_body of If 'i' in body of Loop 'l'"
    assert context().location() == "the net"
    assert inner.around(()).location() == "the net"


def test_bodies_have_variables_of_their_own_and_share_warnings() -> None:
    outer = context()
    outer.variables["v"] = Region().add_argument("v", TensorType(np.dtype(np.float32), ()))
    inner = outer.inside("body of Loop 'l'")
    assert inner.variables == outer.bare().variables == {}
    inner.warn("OV502", "a note", LAYER)
    assert [str(each) for each in outer.warnings] == ["Add 'a' (line 7) in body of Loop 'l': OV502: a note"]


def test_bodies_deeper_than_allowed_are_refused() -> None:
    inner = context(max_depth=1).inside("body of Loop 'l'")
    with pytest.raises(LoadError) as caught:
        inner.inside("body of Loop 'm'")
    assert str(caught.value) == (
        "OV104: bodies are nested deeper than 1\n  fix: raise max_depth if the file is trusted"
    )


def test_reading_of_the_plugin_is_requested_for_by_name() -> None:
    assert context(compat="openvino-cpu").compat == "openvino-cpu"
    assert context().compat == ""
    with pytest.raises(LoadError, match="there is no compat 'cpu'"):
        context(compat="cpu")
