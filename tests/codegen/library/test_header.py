"""The C header of a library."""

from codegen.library.samples import library
from whorl.codegen.library.header import header_text


def test_header_declares_every_function_and_describes_every_port():
    text = header_text(library("net"), 1)
    for line in (
        "#define NET_INPUTS 3",
        "#define NET_INPUT_2_BYTES 8 /* count: int64, int64_t * */",
        "#define NET_OUTPUT_0_BYTES -1 /* seen: float32, whorl_array of float [][3] */",
        "#define NET_LENGTHS 1",
        "/* length 0: n */",
        "#define NET_DEPTH 1 /* the most loops around a node that may fail */",
        "int64_t net_workspace_size(void);",
        "const char *net_message(int32_t status);",
    ):
        assert line in text, line


def test_comment_cannot_end_early():
    text = header_text(library("net"), 0)
    assert text.count("/*") == text.count("*/")
