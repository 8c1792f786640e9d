"""Inputs and outputs of a library: their bytes and types."""

from codegen.library.samples import library, with_constant
from whorl.codegen.library.ports import OPEN, Port
from whorl.ir.dtypes import FLOAT32
from whorl.lowering.arena import ALIGNMENT


def test_port_of_fixed_lengths_has_bytes():
    port = Port("x", FLOAT32, (2, 3))
    assert port.bytes == 24 and not port.is_open and str(port.type) == "float32[2, 3]"


def test_port_with_an_open_length_names_it_in_its_type():
    port = Port("x", FLOAT32, (OPEN, 3), ("n", ""))
    assert port.bytes == OPEN and port.is_open and str(port.type) == "float32[n, 3]"


def test_workspace_has_room_to_align_scratch_memory():
    for sample in (library(), with_constant(4)):
        size = sample.graph.arena.size
        assert sample.workspace_bytes == (size + ALIGNMENT if size else 0)
