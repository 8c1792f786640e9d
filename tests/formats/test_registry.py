"""The registry of formats: how files are recognised, and what happens where a package is missing."""

import pytest
from onnx_text import ROLLOUT

from whorl.errors import LoadError, SaveError
from whorl.formats.options import LoadOptions, SaveOptions
from whorl.formats.registry import FORMATS, MDF, MLIR, ONNX, OPENVINO, Format, format_of, format_to_write

MDF_XML = b'\xef\xbb\xbf<?xml version="1.0"?><!-- <net> --><mdf:Model id="m"/>'


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m.onnx", ONNX),
        ("m.onnxtxt", ONNX),
        ("m.pb", ONNX),
        ("m", ONNX),
        ("m.mlir", MLIR),
        ("m.MLIR", MLIR),
        ("m.xml", OPENVINO),
        ("m.json", MDF),
        ("m.YAML", MDF),
        ("m.bson", MDF),
    ],
)
def test_path_of_no_file_is_recognised_by_its_suffix(name, expected):
    assert format_of(name) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [(MDF_XML, MDF), (b'<?xml version="1.0"?>\n<net name="Model">', OPENVINO), (b"", OPENVINO)]
)
def test_suffix_of_two_formats_is_decided_by_the_root_element(tmp_path, text, expected):
    path = tmp_path / "m.xml"
    path.write_bytes(text)
    assert format_of(path) is expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbf \n<net>", OPENVINO),
        (MDF_XML, MDF),
        (ROLLOUT.SerializeToString(), ONNX),
        (b"", ONNX),
    ],
)
def test_bytes_are_recognised_by_how_they_begin(data, expected):
    assert format_of(data) is format_of(bytearray(data)) is format_of(memoryview(data)) is expected


def test_protos_are_onnx():
    assert format_of(ROLLOUT) is format_of(ROLLOUT.graph) is ONNX


@pytest.mark.parametrize("source", [3, None, ["m.onnx"]])
def test_other_sources_are_refused(source):
    with pytest.raises(LoadError, match=f"no model can be read from {type(source).__name__}"):
        format_of(source)


def test_every_written_suffix_belongs_to_one_format_which_reads_it_too():
    written = [suffix for each in FORMATS for suffix in each.written]
    assert len(written) == len(set(written))
    for each in FORMATS:
        assert set(each.written) <= set(each.suffixes)
        assert all(format_to_write(f"m{suffix.upper()}") is each for suffix in each.written)


def test_suffix_that_no_format_writes_is_refused():
    with pytest.raises(SaveError) as caught:
        format_to_write("m.pb")
    assert str(caught.value) == (
        "'m.pb' has no ending whorl can write\n  fix: end it in .onnx, .onnxtxt, .mlir, .xml, .json, .yaml or .yml"
    )


def test_every_option_is_heeded_by_a_format():
    names = {name for options in (LoadOptions, SaveOptions) for name in options.__struct_fields__}
    assert set().union(*(each.options for each in FORMATS)) == names


def test_bytes_of_a_format_that_needs_a_path_are_refused():
    with pytest.raises(LoadError, match="an MDF model is read from a file"):
        MDF.load(MDF_XML, LoadOptions())


def test_missing_package_is_named_with_its_extra():
    absent = Format("Dots", "whorl_absent", (), (), frozenset(), requires="Whorl_Absent", extra="dots")
    with pytest.raises(LoadError) as caught:
        absent.load("m.dots", LoadOptions())
    assert str(caught.value) == "Dots needs Whorl_Absent\n  fix: pip install 'whorl[dots]'"


def test_module_that_a_format_itself_lacks_is_not_taken_for_a_missing_package():
    with pytest.raises(ModuleNotFoundError, match=r"formats\.mlir\.absent"):
        MLIR.part("absent")
