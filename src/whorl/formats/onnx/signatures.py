"""What reading a model asks of operators: their versions, inputs, outputs and attributes.

The onnx package knows as much, but it takes longer to load than most models take to run. `signatures.txt`, which
`docs/make_signatures.py` writes, has a section for each domain, with its newest version, and in it a line for each
version of an operator: `name version|inputs|outputs|attributes|function`. `?` marks optional parameters, `*1` those of
which there is one or more, `!` attributes that are required; `function` an operator that onnx defines by a function.
`contributed.txt` is of the same form: operators that onnxruntime adds, which are read and never written.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.onnx.protos import AttributeProto, NodeProto
from whorl.ir.definitions import DEFINITIONS

TABLE = "signatures.txt"
CONTRIBUTED = "contributed.txt"
ANY_NUMBER = (1 << 31) - 1
Kind = AttributeProto.AttributeType


class Parameters(Struct, frozen=True):
    """The inputs or the outputs of an operator: their names, how many there may be, and which may not be omitted."""

    names: tuple[str, ...]
    least: int
    most: int
    single: frozenset[int]


class Signature(Struct, frozen=True):
    """One version of an operator; of attributes the kind, and the names of those that are required."""

    since_version: int
    inputs: Parameters
    outputs: Parameters
    attributes: dict[str, int]
    required: tuple[str, ...]
    has_function: bool
    is_open: bool = False
    """Of an operator that a user registered, which takes any inputs, outputs and attributes."""


@functools.cache
def _sections(table: str = TABLE) -> dict[str, tuple[int, dict[str, list[str]]]]:
    """The newest version of each domain, and the lines of its operators."""
    sections: dict[str, tuple[int, dict[str, list[str]]]] = {}
    operators: dict[str, list[str]] = {}
    for line in Path(__file__).with_name(table).read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition(" ")
        if name.startswith("["):
            operators = {}
            sections[name[1:-1]] = int(rest), operators
        else:
            operators.setdefault(name, []).append(rest)
    return sections


NEWEST: dict[str, int] = {domain: newest for domain, (newest, _) in _sections().items()}
"""The newest known version of each domain."""
READABLE_DOMAINS = frozenset(NEWEST) | {"com.microsoft"}
"""The domains of operators that models may have."""


_ANY = Parameters((), 0, ANY_NUMBER, frozenset())
OPEN = Signature(1, _ANY, _ANY, {}, (), False, True)


def readable_signature(op_type: str, domain: str, version: int) -> Signature:
    """The signature of an op of onnx, of a registered one, or one that onnxruntime adds; else UnsupportedError."""
    return OPEN if (domain, op_type) in DEFINITIONS else _readable_signature(op_type, domain, version)


@functools.cache
def _readable_signature(op_type: str, domain: str, version: int) -> Signature:
    try:
        return signature_of(op_type, domain, version)
    except UnsupportedError:
        lines = _sections(CONTRIBUTED)[domain][1].get(op_type) if domain in ("", "com.microsoft") else None
        if not lines:
            raise
        return _signature(lines[0])


@functools.cache
def signature_of(op_type: str, domain: str, version: int) -> Signature:
    """The signature of an op at an opset version; UnsupportedError where there is none."""
    versions = _sections()[domain][1].get(op_type, []) if domain in NEWEST else []
    lines = {int(line.partition("|")[0]): line for line in versions}
    since = max((each for each in lines if each <= version), default=None)
    if since is not None:
        return _signature(lines[since])
    shown = f"{domain or 'ai.onnx'} {version}"
    if not lines:
        raise UnsupportedError(f"{op_type} is not an operator of {shown}")
    raise UnsupportedError(f"{op_type} came with version {min(lines)}; the model imports {shown}")


def _signature(line: str) -> Signature:
    since, inputs, outputs, attributes, function = line.split("|")
    kinds = dict(attribute.split(":") for attribute in attributes.split())
    return Signature(
        int(since),
        _parameters(inputs.split()),
        _parameters(outputs.split()),
        {name.rstrip("!"): Kind.Value(kind) for name, kind in kinds.items()},
        tuple(name[:-1] for name in kinds if name.endswith("!")),
        function != "",
    )


def _parameters(texts: Sequence[str]) -> Parameters:
    """From texts such as `x`, `y?` and `z*1`; what is before one that may not be omitted counts, even if left blank."""
    names: list[str] = []
    single: set[int] = set()
    least = most = 0
    for text in texts:
        name, star, fewest = text.partition("*")
        most = ANY_NUMBER if star else most + 1
        if star:
            least = len(names) + int(fewest)
        elif not text.endswith("?"):
            single.add(len(names))
            least = most
        names.append(name.rstrip("?"))
    return Parameters(tuple(names), least, most, frozenset(single))


def check_node(proto: NodeProto, attributes: Sequence[AttributeProto], signature: Signature) -> None:
    """Refuse wrong numbers of inputs or outputs, and attributes that are missing, unknown or of the wrong kind."""
    if signature.is_open:
        return
    version = signature.since_version
    for what, count, formal in (
        ("inputs", len(proto.input), signature.inputs),
        ("outputs", len(proto.output), signature.outputs),
    ):
        if not formal.least <= count <= formal.most:
            raise LoadError(f"has {count} {what}, version {version} takes {_span(formal.least, formal.most)}")
    for index, name in enumerate(proto.input):
        parameter = min(index, len(signature.inputs.names) - 1)
        if not name and parameter in signature.inputs.single:
            shown = signature.inputs.names[parameter]
            raise LoadError(f"input {index} ({shown}) is missing", fix="give the input a name")
    known = signature.attributes
    for attribute in attributes:
        if attribute.name not in known:
            raise LoadError(f"has the attribute {attribute.name!r}, which version {version} does not know")
        kind = known[attribute.name]
        if kind != attribute.type:
            raise LoadError(f"attribute {attribute.name!r} is {Kind.Name(attribute.type)}, expected {Kind.Name(kind)}")
    present = {a.name for a in attributes}
    for name in signature.required:
        if name not in present:
            raise LoadError(f"lacks the attribute {name!r}")


def _span(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"at least {low}" if high == ANY_NUMBER else f"{low} to {high}"
