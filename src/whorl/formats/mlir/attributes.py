"""Types and attributes of MLIR text, over xDSL's lexer and basic parser."""

from __future__ import annotations

import functools
import re
from typing import Any, NoReturn

import numpy as np
from xdsl.parser.base_parser import BaseParser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from whorl.formats.mlir.elements import read_bytes, read_dense, read_list, read_sparse, unescaped
from whorl.formats.mlir.syntax import FunctionType, Opaque, Symbol
from whorl.formats.mlir.types import FROM_NAME, TO_NAME
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import INT64, is_float
from whorl.ir.types import UNRANKED, MapType, OptionalType, SequenceType, Shape, TensorType, Type

_SHAPE = re.compile(r"\s*(?:(\*\s*x)|((?:(?:\?|[0-9]+)\s*x\s*)*))\s*")
_SIMPLE = re.compile(r"<(\*x|(?:(?:\?|[0-9]+)x)*)([a-z][a-zA-Z0-9]*)>")
_DIM = re.compile(r"\?|[0-9]+")
_DIM_DIGITS = 18
_BODY = re.compile(r'(?:[^"<>]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_HEX_BODY = re.compile(r'\s*"0x[0-9A-Fa-f]*"\s*')
_OPEN, _CLOSED = "(<[{", ")>]}"
_FLAT = re.compile(r'"(?:[^"\\]++|\\.)*+"|->|[(<\[{)>\]}]', re.DOTALL)
_WORDS = {"true": True, "false": False}
_WRAPPERS = {"!onnx.Seq": SequenceType, "!onnx.Opt": OptionalType}


class _Lexer(MLIRLexer):
    """xDSL's lexer, with texts that end by time linear in their length also where they are not closed."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class AttributeParser(BaseParser):
    """Parses types and attributes from the current token on."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(ParserState(_Lexer(Input(text, name))))  # type: ignore[arg-type]
        self.types: dict[str, Any] = {}
        self.aliases: dict[str, Any] = {}
        self.resources: dict[str, bytes] = {}
        self.locations: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The whole text."""
        return self.lexer.input.content

    def refuse(self, message: str, position: int | None = None) -> NoReturn:
        """Raise an error at the current token or a position."""
        self.raise_error(message, self.pos if position is None else position)

    def _at(self, kind: MLIRTokenKind) -> bool:
        return self._current_token.kind is kind

    # ---- types -----------------------------------------------------------------------------------------------

    def parse_type(self) -> Any:
        """A type: of the hub, None for `none`, an element type as a dtype, `Opaque` where nobody knows it."""
        start, token = self.pos, self._current_token
        if token.kind is MLIRTokenKind.L_PAREN:
            return self.parse_function_type()
        if token.kind is MLIRTokenKind.EXCLAMATION_IDENT:
            return self._dialect_type()
        if token.kind is not MLIRTokenKind.BARE_IDENT:
            self.refuse("a type is expected")
        word = self._consume_token().text
        if word == "none":
            return None
        if word == "tensor":
            return self._tensor()
        if word == "complex":
            part = self._in_angles(self.parse_type)
            name = f"complex<{TO_NAME[part]}>" if isinstance(part, np.dtype) else ""
            return FROM_NAME.get(name) or self._opaque(start)
        return FROM_NAME.get(word) or self._opaque(start)

    def parse_value_type(self) -> Type | None:
        """The type of a value that the onnx dialect can have."""
        start, type = self.pos, self.parse_type()
        if isinstance(type, TensorType | SequenceType | OptionalType | MapType) or type is None:
            return type
        self.refuse("a value has to be a tensor, a sequence, an optional or none", start)

    def parse_function_type(self) -> FunctionType:
        """`(types) -> type` or `(types) -> (types)`."""
        inputs = self._types()
        self.parse_punctuation("->")
        if self._at(MLIRTokenKind.L_PAREN):
            return FunctionType(inputs, self._types())
        return FunctionType(inputs, (self.parse_value_type(),))

    def _types(self) -> tuple[Type | None, ...]:
        return tuple(self.parse_comma_separated_list(self.Delimiter.PAREN, self.parse_value_type))

    def _in_angles(self, parse: Any) -> Any:
        self.parse_punctuation("<")
        value = parse()
        self.parse_punctuation(">")
        return value

    def _tensor(self) -> TensorType:
        if not self._at(MLIRTokenKind.LESS):
            self.refuse("'<' expected")
        simple = _SIMPLE.match(self.text, self.pos)
        if simple is not None and simple[2] in FROM_NAME:
            self._resume_from(simple.end())
            return _tensor_type(simple[1], simple[2])
        start = self._current_token.span.end
        match = _SHAPE.match(self.text, start)
        assert match is not None
        self._resume_from(match.end())
        shape: Shape = UNRANKED if match[1] else tuple(map(_dim, _DIM.findall(match[2])))
        element = self.parse_type()
        if not isinstance(element, np.dtype):
            self.refuse("this is no element type of ONNX", match.end())
        if self.parse_optional_punctuation(",") is not None:
            self.parse_attribute()
        self.parse_punctuation(">")
        return TensorType(element, shape)

    def _dialect_type(self) -> Any:
        start, name = self.pos, self._consume_token().text
        if name == "!onnx.String":
            return FROM_NAME[name]
        if name in _WRAPPERS:
            inner = self._in_angles(self.parse_value_type)
            return self.refuse("an element type is expected", start) if inner is None else _WRAPPERS[name](inner)
        if name == "!onnx.Map":
            self.parse_punctuation("<")
            key = self.parse_type()
            self.parse_punctuation(",")
            value = self.parse_value_type()
            self.parse_punctuation(">")
            if not isinstance(key, np.dtype) or value is None:
                self.refuse("a map has an element type as its key, and values", start)
            return MapType(key, value)
        return self.types[name] if name in self.types else self._opaque(start)

    def _opaque(self, start: int) -> Opaque:
        """What is left of a construct in angle brackets, without looking into it."""
        if self._at(MLIRTokenKind.LESS):
            self._resume_from(self._balanced(self.pos))
        return Opaque(self.text[start : self._last_end(start)])

    def _last_end(self, start: int) -> int:
        """Where the token before the current one ends."""
        return start + len(self.text[start : self.pos].rstrip())

    def _balanced(self, position: int) -> int:
        """The place behind the bracket that closes the one at a position."""
        open_brackets: list[str] = []
        for match in _FLAT.finditer(self.text, position):
            mark = match[0]
            if mark in _OPEN:
                open_brackets.append(_CLOSED[_OPEN.index(mark)])
            elif mark in _CLOSED and (not open_brackets or open_brackets.pop() != mark):
                break
            if not open_brackets:
                return match.end()
        self.refuse("this bracket is not closed", position)

    # ---- attributes ------------------------------------------------------------------------------------------

    def parse_dictionary(self) -> tuple[dict[str, Any], dict[str, str]]:
        """`{name = value, flag}`: the values, and each as it is written; a flag is True and has no text."""
        values: dict[str, Any] = {}
        texts: dict[str, str] = {}

        def entry() -> None:
            position, name = self.pos, self.parse_identifier_or_str_literal()
            if name in values:
                self.refuse(f"attribute {name!r} is given twice", position)
            values[name], texts[name] = True, ""
            if self.parse_optional_punctuation("=") is not None:
                start = self.pos
                values[name] = self.parse_attribute()
                shown = not isinstance(values[name], np.ndarray)
                texts[name] = self.text[start : self._last_end(start)] if shown else ""

        self.parse_comma_separated_list(self.Delimiter.BRACES, entry)
        return values, texts

    def parse_attribute(self) -> Any:
        """An attribute as a Python value: numbers, texts, tuples, dictionaries, arrays, types, symbols, opaque text."""
        token = self._current_token
        match token.kind:
            case MLIRTokenKind.STRING_LIT | MLIRTokenKind.BYTES_LIT:
                self._consume_token()
                self._optional_type()
                return unescaped(token.text[1:-1])
            case MLIRTokenKind.L_SQUARE:
                return tuple(self.parse_comma_separated_list(self.Delimiter.SQUARE, self.parse_attribute))
            case MLIRTokenKind.L_BRACE:
                return self.parse_dictionary()[0]
            case MLIRTokenKind.AT_IDENT:
                return self._symbol()
            case MLIRTokenKind.HASH_IDENT:
                return self._dialect_attribute()
            case MLIRTokenKind.INTEGER_LIT | MLIRTokenKind.FLOAT_LIT | MLIRTokenKind.MINUS:
                return self._number()
            case MLIRTokenKind.BARE_IDENT:
                return self._word()
            case _:
                pass
        return self.parse_type()

    def _symbol(self) -> Symbol:
        name = self._consume_token().text[1:]
        return Symbol(unescaped(name[1:-1]) if name.startswith('"') else name)

    def _optional_type(self) -> Any:
        return self.parse_type() if self.parse_optional_punctuation(":") is not None else None

    def _number(self) -> int | float:
        """A number with an optional type; digits after 0x are the bits of a float where the type is one."""
        negative = self.parse_optional_punctuation("-") is not None
        token = self._consume_token()
        if token.kind not in (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT):
            self.refuse("a number is expected", token.span.start)
        word, position = token.text, token.span.start
        value: int | float = float(word) if token.kind is MLIRTokenKind.FLOAT_LIT else _whole(word)
        type = self._optional_type()
        if isinstance(type, np.dtype) and is_float(type) and isinstance(value, int):
            try:
                value = float(read_dense(word, TensorType(type, ()))[()])
            except ValueError as error:
                self.refuse(str(error), position)
        return -value if negative else value

    def _word(self) -> Any:
        start, word = self.pos, self._current_token.text
        if word in _WORDS:
            self._consume_token()
            return _WORDS[word]
        if word == "unit":
            self._consume_token()
            return True
        if word in ("dense", "sparse", "dense_resource", "array"):
            self._consume_token()
            return getattr(self, f"_{word}")()
        if word in ("loc", "affine_map", "affine_set", "opaque", "strided"):
            self._consume_token()
            if self._current_token.text in _OPEN:
                self._resume_from(self._balanced(self.pos))
            return Opaque(self.text[start : self._last_end(start)])
        return self.parse_type()

    def _dense(self) -> np.ndarray:
        if not self._at(MLIRTokenKind.LESS):
            self.refuse("'<' expected")
        start = self._current_token.span.end
        match = _HEX_BODY.match(self.text, start) or _BODY.match(self.text, start)
        assert match is not None
        if self.text[match.end() : match.end() + 1] != ">":
            self.refuse("this list is not closed by '>'", start)
        self._resume_from(match.end())
        self.parse_punctuation(">")
        return self._elements(start, lambda type: read_dense(match[0], type))

    def _elements(self, start: int, read: Any) -> np.ndarray:
        """The array of the tensor type that follows."""
        self.parse_punctuation(":")
        type = self.parse_type()
        if not isinstance(type, TensorType):
            self.refuse("a tensor type is expected here", start)
        try:
            return read(type)
        except (ValueError, OverflowError) as error:
            self.refuse(str(error), start)

    def _sparse(self) -> np.ndarray:
        start = self.pos
        self.parse_punctuation("<")
        position, depth = self.pos, 0
        for match in _FLAT.finditer(self.text, position):
            depth += {"[": 1, "]": -1}.get(match[0], 0)
            if match[0] == ">" and not depth:
                self._resume_from(match.end())
                return self._elements(start, functools.partial(_sparse_array, self.text[position : match.start()]))
        self.refuse("this list is not closed by '>'", start)

    def _array(self) -> tuple[Any, ...]:
        self.parse_punctuation("<")
        self.parse_type()
        values: list[Any] = []
        if self.parse_optional_punctuation(":") is not None:
            values = self.parse_comma_separated_list(self.Delimiter.NONE, self.parse_attribute)
        self.parse_punctuation(">")
        return tuple(values)

    def _dense_resource(self) -> np.ndarray:
        start = self.pos
        name = self._in_angles(self.parse_identifier_or_str_literal)
        if name == "__elided__":
            self.refuse("the elements were left out when this text was printed", start)
        if name not in self.resources:
            self.refuse(f"there is no resource {name!r} in the text", start)
        return self._elements(start, lambda type: read_bytes(self.resources[name], type))

    def _dialect_attribute(self) -> Any:
        start, name = self.pos, self._consume_token().text
        if name == "#onnx.dense_disposable":
            self.parse_punctuation("<")
            self.parse_integer()
            self.parse_punctuation(":")
            data, position = self.parse_str_literal(), self.pos
            self.parse_punctuation(">")
            return self._elements(position, lambda type: read_dense(f'"{data}"', type))
        if name in self.aliases:
            return self.aliases[name]
        return self._opaque(start)


@functools.lru_cache(1024)
def _tensor_type(shape: str, element: str) -> TensorType:
    """`4x?x` and `f32` as a type."""
    if shape.startswith("*"):
        return TensorType(FROM_NAME[element])
    return TensorType(FROM_NAME[element], tuple(map(_dim, _DIM.findall(shape))))


def _dim(text: str) -> Dim:
    if text != "?" and len(text) > _DIM_DIGITS:
        raise ValueError(f"a length may have up to {_DIM_DIGITS} digits")
    return UNKNOWN if text == "?" else int(text)


def _whole(word: str) -> int:
    return int(word, 16) if word[:2].lower() == "0x" else int(word)


def _sparse_array(body: str, type: TensorType) -> np.ndarray:
    """`indices, values` of a sparse tensor, each a list or a single element."""
    depth = 0
    for index, mark in enumerate(body):
        depth += (mark == "[") - (mark == "]")
        if mark == "," and not depth:
            indices = re.findall(r"-?[0-9]+", body[:index])
            return read_sparse(
                np.array([int(k) for k in indices], INT64), read_list(body[index + 1 :], type.dtype), type
            )
    if body.strip():
        raise ValueError("expected the indices, a comma, and the values")
    return read_sparse(np.zeros(0, INT64), np.zeros(0, type.dtype), type)
