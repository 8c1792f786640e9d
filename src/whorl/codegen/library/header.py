"""The C header of a library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whorl.codegen.library.ports import BAD_ARGUMENT, ELEMENT_TYPES, MOST_AXES, OPEN, Library, Port
from whorl.codegen.statuses import FIRST_FAILURE, NO_MEMORY
from whorl.ir.dtypes import name_of

C_TYPES = {
    "bool": "uint8_t",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
    "int2": "int8_t",
    "int4": "int8_t",
}
"""The C type that holds an element, by its name; other integers are `int32_t` and the like, the rest is `uint8_t`."""


def header_text(library: Library, depth: int) -> str:
    """Declarations of a library's functions, with what its inputs and outputs are; at most `depth` loops may fail."""
    name = library.name
    guard = f"{name.upper()}_H"
    return "\n".join(
        (
            f"/* {name}: written by whorl. Needs no other library than C's own. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stdint.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            *_common(),
            "",
            *_ports(library, "input", library.inputs),
            *_ports(library, "output", library.outputs),
            f"#define {name.upper()}_LENGTHS {len(library.graph.names)}",
            *(f"/* length {n}: {_comment(text)} */" for n, text in enumerate(library.graph.names)),
            f"#define {name.upper()}_DEPTH {depth} /* the most loops around a node that may fail */",
            "",
            *_functions(name),
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "#endif",
            "",
        )
    )


def _common() -> Iterator[str]:
    """What headers of several libraries share."""
    yield "#ifndef WHORL_TENSOR"
    yield "#define WHORL_TENSOR"
    yield "enum whorl_type {"
    for dtype, number in ELEMENT_TYPES.items():
        yield f"    WHORL_{name_of(dtype).upper()} = {number},"
    yield "};"
    yield "/* A tensor lies row by row without gaps; a bool is a byte that is 0 or 1, and what is narrower than a byte"
    yield "   takes one. */"
    yield "typedef struct whorl_tensor {"
    yield "    const char *name;"
    yield f"    const int64_t *shape; /* `rank` lengths; {OPEN} is one that only the run knows */"
    yield "    const char *const *dims; /* what lengths that only the run knows are called, or NULL */"
    yield f"    int64_t bytes;        /* {OPEN} where only the run knows */"
    yield "    int32_t type;         /* enum whorl_type */"
    yield "    int32_t rank;"
    yield "} whorl_tensor;"
    yield "/* What `outputs` points to for a tensor with lengths that only the run knows: memory from malloc, which the"
    yield "   caller frees (NULL if there are no elements), and all lengths. */"
    yield "typedef struct whorl_array {"
    yield "    void *data;"
    yield f"    int64_t shape[{MOST_AXES}];"
    yield "} whorl_array;"
    yield "#define WHORL_DONE 0"
    yield f"#define WHORL_NO_MEMORY {NO_MEMORY}"
    yield f"#define WHORL_BAD_ARGUMENT ({BAD_ARGUMENT})"
    yield "#endif"


def _ports(library: Library, kind: str, ports: Sequence[Port]) -> Iterator[str]:
    """`NAME_INPUT_0_BYTES` and the like, and a comment that says what each is."""
    start = f"{library.name}_{kind}".upper()
    yield f"#define {start}S {len(ports)}"
    for number, port in enumerate(ports):
        element = name_of(port.dtype)
        names = port.dims or [""] * len(port.shape)
        lengths = "".join(f"[{name if n == OPEN else n}]" for n, name in zip(port.shape, names, strict=True))
        whole = port.dtype.kind in "iu"
        described = f"{C_TYPES.get(element, f'{element}_t' if whole else 'uint8_t')} {lengths or '*'}"
        if port.is_open and kind == "output":
            described = f"whorl_array of {described}"
        yield f"#define {start}_{number}_BYTES {port.bytes} /* {_comment(port.name)}: {element}, {described} */"


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _functions(name: str) -> list[str]:
    return [
        "/* What input or output `n` is; NULL beyond the last. */",
        f"const whorl_tensor *{name}_input(int32_t n);",
        f"const whorl_tensor *{name}_output(int32_t n);",
        "",
        "/* What length `n` is called; NULL beyond the last. */",
        f"const char *{name}_length(int32_t n);",
        "",
        "/* Bytes of memory that a run works in; 0 where it needs none. */",
        f"int64_t {name}_workspace_size(void);",
        "",
        "/* Runs once and returns a status, 0 when done. `inputs` and `outputs` point to the tensors in their order;",
        "   outputs overlap nothing. `lengths` are those that have names, or NULL where there are none. `workspace` is",
        "   memory that no other run uses meanwhile, or NULL: the run then takes its own and gives it back.",
        "   `iterations` is NULL or room for as many numbers as the depth above. Any number of threads may run at",
        "   once. */",
        f"int32_t {name}_run(const void *const *inputs, void *const *outputs, const int64_t *lengths,",
        "                    void *workspace, int64_t *iterations);",
        "",
        f"/* What a status says. From {FIRST_FAILURE} on it names the node that failed; `{{0}}`, `{{1}}`, ... in it",
        "   stand for the iterations of the loops around it, which the run wrote to `iterations`. */",
        f"const char *{name}_message(int32_t status);",
    ]
