"""The grammar of the text form, and what its syntax errors say."""

from __future__ import annotations

import functools
import re
from collections.abc import Set
from typing import TYPE_CHECKING, Any

from whorl.errors import LoadError
from whorl.ir.literals import BARE_FORM, HINT_FORM, STRING_FORM

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR = rf"""
module: header node* outputs "}}" ["defaults" mapping] ["metadata" mapping]
region: header node* results "}}"
header: [NAME | STRING] "(" [argument ("," argument)*] ")" "{{"
results: "return" [VALUE ("," VALUE)*]
outputs: "return" [output ("," output)*]
output: (NAME | STRING) [":" type] "=" VALUE

node: targets "=" NAME [STRING] "(" operands ")" [mapping] region*
targets: "_" | argument ("," argument)*
argument: VALUE ":" type [known]
operands: [operand ("," operand)*]
operand: VALUE | "_"
known: "{{" [extent] [element ("," element)*] "}}"
extent: "[" [INT ("," INT)*] "]"
?element: dim | FLOAT -> number | "True" -> true | "False" -> false

mapping: "{{" [pair ("," pair)*] "}}"
pair: (NAME | STRING) "=" value
?value: "None" -> none
      | "True" -> true
      | "False" -> false
      | INT -> integer
      | "-" INT -> negative_integer
      | FLOAT -> number
      | STRING -> string
      | NAME -> dtype
      | type
      | NAME "[" shape "]" ELEMENTS -> tensor
      | NAME "(" [pair ("," pair)*] ")" -> struct
      | "(" ")" -> several
      | "(" value ("," value)* [","] ")" -> several
      | mapping

?type: NAME "[" shape "]" -> tensor_type
     | "seq" "(" type ")" -> sequence_type
     | "optional" "(" type ")" -> optional_type
     | "map" "(" NAME "," type ")" -> map_type
shape: "*" -> unranked
     | [dim ("," dim)*]
?dim: "?" -> unknown
    | sum
?sum: term
    | "-" term -> negative
    | sum "+" term -> plus
    | sum "-" term -> minus
?term: INT -> integer
     | INT "*" atom -> times
     | atom
?atom: NAME -> dim_name
     | STRING -> dim_name
     | NAME "(" dim ("," dim)* ")" -> call

VALUE: /%(?:{HINT_FORM}|{STRING_FORM})(?:~[0-9]+)?/
NAME: /{BARE_FORM}/
STRING: /{STRING_FORM}/
INT: /[0-9]+/
FLOAT.2: /[+-]?(?:[0-9]+[.][0-9]*(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|inf|nan)(?![A-Za-z0-9_.\/'])/
ELEMENTS: /<[^<>"]*(?:{STRING_FORM}[^<>"]*)*>/
%ignore /\s+/
%ignore /#[^\n]*/
"""
_SHOWN = 40
"""Characters of what was found that an error shows."""
_PHRASES = {
    "VALUE": "a value like %x",
    "NAME": "a name",
    "STRING": "a text in double quotes",
    "INT": "a whole number",
    "FLOAT": "a number with a point",
    "ELEMENTS": "elements in < >",
    "$END": "the end of the text",
}
_TYPE = frozenset(("NAME", "SEQ", "OPTIONAL", "MAP"))
_LENGTH = frozenset(("QMARK", "NAME", "STRING", "INT", "MINUS"))
_ELEMENT = _LENGTH | {"FLOAT", "TRUE", "FALSE"}
_FIELD = _TYPE | {"NONE", "TRUE", "FALSE", "INT", "MINUS", "FLOAT", "STRING", "LPAR", "LBRACE"}
_GROUPS = {_FIELD: "what a field can hold", _ELEMENT: "an element", _LENGTH: "a length", _TYPE: "a type"}
_BRACKETS = re.compile(rf"{STRING_FORM}|#[^\n]*|(?P<open>[(\[{{])|(?P<close>[)\]}}])")


@functools.cache
def _parser(actions: Any) -> Lark:
    from lark import Lark

    return Lark(GRAMMAR, parser="lalr", start=["module", "region"], transformer=actions)


def read(text: str, start: str, actions: Any, max_depth: int) -> Any:
    """The text by the rule `start`; for every rule, the method of that name makes a value of what it matched.

    Errors: LoadError with line, column, and what was expected there.
    """
    from lark.exceptions import UnexpectedInput

    _refuse_depth(text, max_depth)
    parser: Any = _parser(actions)
    try:
        return parser.parse(text, start=start)
    except UnexpectedInput as error:
        raise _syntax_error(error, parser, text) from None


def location_of(token: Any) -> str:
    """Where a token is, as errors write it."""
    return f"line {token.line}, column {token.column}"


def _location_at(text: str, index: int) -> str:
    line, column = text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
    return f"line {line}, column {column}"


def _refuse_depth(text: str, max_depth: int) -> None:
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth += bool(bracket["open"]) - bool(bracket["close"])
        if depth > max_depth:
            message, fix = f"brackets are nested deeper than {max_depth}", "raise max_depth if the text is trusted"
            raise LoadError(message, _location_at(text, bracket.start()), fix)


def _syntax_error(error: Any, parser: Lark, text: str) -> LoadError:
    """What lark found and what its state would have taken."""
    token = getattr(error, "token", None)
    unexpected, kind = (error.char, "") if token is None else (token, token.type)
    expected = error.interactive_parser.accepts()
    where = location_of(error) if kind != "$END" else _location_at(text, len(text))
    shown = "the end of the text" if kind == "$END" else repr(str(unexpected)[:_SHOWN])
    return LoadError(
        f"found {shown}, expected {_alternatives(expected, parser)}", where, _fix(unexpected, kind, expected)
    )


def _alternatives(expected: Set[str], parser: Lark) -> str:
    """What may stand at a place: `a type`, `',' or ')'`."""
    left = set(expected)
    phrases: list[str] = []
    for group, phrase in _GROUPS.items():
        if group <= left:
            left -= group
            phrases.append(phrase)
    literals = {t.name: repr(t.pattern.value) for t in parser.terminals if t.pattern.type == "str"}
    phrases += sorted(_PHRASES.get(name) or literals.get(name, name) for name in left)
    return " or ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def _fix(unexpected: str, kind: str, expected: Set[str]) -> str:
    if unexpected == '"':
        return "close the text with a second quote on the same line"
    if "COLON" in expected and kind != "$END":
        return "give every value its type where it is made, as in %x: float32[N, 4]"
    if "RETURN" in expected and kind == "RBRACE":
        return "end the region with `return` and its results"
    if kind == "VALUE" and "NAME" in expected:
        return "write a name in front, as in y = %x"
    if "VALUE" in expected and kind in ("NAME", "INT"):
        return "begin the name of a value with %"
    if kind == "$END":
        return "complete the text; print_module writes a whole module"
    return "docs/text-form.md shows the form"
