"""Texts and bytes as constants."""

from whorl.llvm.module import Machine, Module
from whorl.llvm.text import add_string, bytes_text


def test_bytes_are_written_as_hexadecimal_digits():
    assert bytes_text(b'a"\0\xff') == r'c"\61\22\00\FF"'


def test_string_ends_in_zero_and_counts_bytes():
    module = Module(Machine(32, True))
    assert add_string(module, "@name", "é") == "@name"
    assert str(module) == '@name = private unnamed_addr constant [3 x i8] c"\\C3\\A9\\00"\n'
