"""OpenVINO's names of element types."""

import numpy as np
import pytest

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.element_types import NAMES, attribute_name, element_type, port_name, port_type
from whorl.ir.dtypes import BY_NAME


@pytest.mark.parametrize("name", NAMES)
def test_names_of_attributes_and_ports_are_read_back(name):
    dtype = BY_NAME[name]
    assert element_type(attribute_name(dtype), "") == dtype
    assert port_type(port_name(dtype)) == port_type(attribute_name(dtype)) == dtype


def test_case_and_blanks_do_not_matter_in_attributes():
    assert element_type(" F32 ", "") == np.float32
    assert port_type("fp32") is None
    assert port_type("F32") == np.float32


@pytest.mark.parametrize(("text", "name"), [("NF4", "float32"), ("U1", "uint8"), ("U6", "uint8")])
def test_ports_of_types_that_only_constants_have_are_what_they_are_read_as(text, name):
    assert port_type(text) == BY_NAME[name]


@pytest.mark.parametrize("text", ["", "float", "dynamic", "f32x", "x" * 100])
def test_name_that_is_none_is_refused(text):
    with pytest.raises(LoadError) as caught:
        element_type(text, "element_type of Parameter 'x'")
    assert str(caught.value).startswith(
        f"OV404: element_type of Parameter 'x' is {text[:40]!r}, which is no element type that can be computed with"
    )
    assert port_type(text) is None


@pytest.mark.parametrize("name", ["complex64", "float6e2m3", "float8e4m3fnuz"])
def test_type_that_openvino_lacks_is_refused(name):
    for function in (attribute_name, port_name):
        with pytest.raises(SaveError) as caught:
            function(BY_NAME[name])
        assert str(caught.value) == f"OpenVINO has no element type {name}\n  fix: insert a Cast"
