"""MLIR text as a program of the onnx dialect: modules, functions, regions and operations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from xdsl.utils.exceptions import ParseError
from xdsl.utils.mlir_lexer import MLIRTokenKind

from whorl.errors import LoadError
from whorl.formats.mlir.attributes import AttributeParser
from whorl.formats.mlir.syntax import Argument, Block, Function, FunctionType, Operation, Program, Symbol
from whorl.ir.types import Type

MAX_BRACKETS = 256
"""Brackets that may be nested outside of lists of elements."""
_MARKS = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|//[^\n]*|dense<(?:[^"<>]++|"(?:[^"\\]++|\\.)*+")*+>|[(<\[{)>\]}]')
_RESOURCE = re.compile(r'([\w$.]+|"[^"]*")\s*:\s*"0x([0-9A-Fa-f]*)"')
_RETURNS = ("onnx.Return", "func.return", "return", "std.return", "onnx.Yield")
_OLD_NAMES = {"return": "func.return", "std.return": "func.return"}
"""Names that ops had before MLIR's standard dialect was divided."""
_FUNCTIONS, _MODULES = ("func.func", "func"), ("module", "builtin.module")


def parse_program(text: str, name: str, line: int = 0) -> Program:
    """The functions in MLIR text. Errors: LoadError with the line and column, counted on from `line`."""
    try:
        _refuse_depth(text, name, line)
        return _Parser(text, name).program(line)
    except ParseError as error:
        location = error.span.get_location()
        raise LoadError(f"{name}:{location.line + line}:{location.col}: {error.msg}") from None
    except ValueError as error:
        raise LoadError(f"{name} has a number that cannot be: {error}") from None
    except RecursionError:
        raise LoadError(f"{name} is nested too deep", fix="nest fewer regions") from None


def _refuse_depth(text: str, name: str, above: int) -> None:
    depth = 0
    for match in _MARKS.finditer(text):
        mark = match[0]
        depth += (mark in "(<[{") - (mark in ")>]}") if len(mark) == 1 else 0
        if depth > MAX_BRACKETS:
            line = text.count("\n", 0, match.start()) + 1 + above
            raise LoadError(f"{name}:{line}: brackets are nested deeper than {MAX_BRACKETS}", fix="nest fewer regions")


class _Parser(AttributeParser):
    """Parses operations; names of values are checked where the program is read."""

    def program(self, line: int) -> Program:
        """The whole text, which begins after so many lines of its file."""
        result = Program(self.lexer.input.name, self.text, line, locations=self.locations)
        self._read_resources()
        operations: list[Operation] = []
        while not self._at(MLIRTokenKind.EOF):
            if self._at(MLIRTokenKind.FILE_METADATA_BEGIN):
                self._skip_metadata()
            elif not self._alias():
                operations.append(self.operation())
        self._collect(operations, result)
        return result

    def _collect(self, operations: Iterable[Operation], result: Program) -> None:
        for operation in operations:
            if operation.name in _MODULES:
                result.texts |= {k: v for k, v in operation.texts.items() if k != "sym_name"}
                self._collect([inner for block in operation.blocks for inner in block.operations], result)
            elif operation.name in _FUNCTIONS:
                result.functions.append(_function(operation))
            elif operation.name == "onnx.EntryPoint":
                named = operation.attributes.get("func")
                result.entries += [named.name] if isinstance(named, Symbol) else []
            else:
                self.refuse(f"{operation.name} has no place outside of functions", operation.position)

    # ---- what stands around operations -----------------------------------------------------------------------

    def _alias(self) -> bool:
        """`#name = attribute` or `!name = type`."""
        if not (self._at(MLIRTokenKind.HASH_IDENT) or self._at(MLIRTokenKind.EXCLAMATION_IDENT)):
            return False
        name = self._consume_token().text
        self.parse_punctuation("=")
        if name.startswith("!"):
            self.parse_optional_keyword("type")
            self.types[name] = self.parse_type()
        elif self._current_token.text == "loc":
            self.locations[name] = self._location()
        else:
            self.aliases[name] = self.parse_attribute()
        return True

    def _read_resources(self) -> None:
        start = self.text.rfind("{-#")
        if start < 0:
            return
        for match in _RESOURCE.finditer(self.text, start):
            digits = match[2][8:]
            if len(digits) % 2:
                self.refuse("the bytes of this resource have an odd number of digits", match.start())
            self.resources[match[1].strip('"')] = bytes.fromhex(digits)

    def _skip_metadata(self) -> None:
        end = self.text.find("#-}", self.pos)
        if end < 0:
            self.refuse("this block is not closed by '#-}'")
        self._resume_from(end + 3)

    def _location(self) -> str:
        """`loc(...)`: what stands inside."""
        self.parse_keyword("loc")
        start, end = self.pos, self._balanced(self.pos)
        self._resume_from(end)
        return self.text[start + 1 : end - 1].strip()

    def _optional_location(self) -> str:
        return self._location() if self._current_token.text == "loc" else ""

    # ---- operations ------------------------------------------------------------------------------------------

    def operation(self) -> Operation:
        """One operation, in generic or custom form."""
        results = self._results()
        operation = Operation("", self.pos, results)
        if self._at(MLIRTokenKind.STRING_LIT):
            name = self.parse_str_literal()
            operation.name = _OLD_NAMES.get(name, name)
            self._generic(operation)
        else:
            operation.name = self.parse_identifier()
            self._custom(operation)
        operation.location = self._optional_location()
        return operation

    def _results(self) -> list[str]:
        names: list[str] = []
        while self._at(MLIRTokenKind.PERCENT_IDENT):
            name = self._consume_token().text[1:]
            if self.parse_optional_punctuation(":") is not None:
                count = self.parse_integer()
                if not 0 < count <= 1 << 16:
                    self.refuse(f"an operation cannot have {count} results")
                names += [f"{name}#{k}" for k in range(count)]
            else:
                names.append(name)
            if self.parse_optional_punctuation(",") is None:
                break
        if names:
            self.parse_punctuation("=")
        return names

    def _generic(self, operation: Operation) -> None:
        operation.operands = self._operands()
        if self._current_token.text == "[":
            self.refuse("operations with successors have no meaning in the onnx dialect")
        if self.parse_optional_punctuation("<") is not None:
            self._add_attributes(operation)
            self.parse_punctuation(">")
        if self.parse_optional_punctuation("(") is not None:
            operation.blocks = self.parse_list(self.Delimiter.NONE, self._region)
            self.parse_punctuation(")")
        if self._current_token.text == "{":
            self._add_attributes(operation)
        self.parse_punctuation(":")
        operation.types = self.parse_function_type()

    def _add_attributes(self, operation: Operation) -> None:
        values, texts = self.parse_dictionary()
        operation.attributes |= values
        operation.texts |= texts

    def _operands(self) -> list[str]:
        return self.parse_comma_separated_list(self.Delimiter.PAREN, self._operand)

    def _operand(self) -> str:
        if not self._at(MLIRTokenKind.PERCENT_IDENT):
            self.refuse("a value is expected")
        name = self._consume_token().text[1:]
        if self._at(MLIRTokenKind.HASH_IDENT):
            name += self._consume_token().text
        return name

    def _custom(self, operation: Operation) -> None:
        if operation.name in _MODULES:
            self._module(operation)
        elif operation.name in _FUNCTIONS:
            self._function(operation)
        elif operation.name in _RETURNS:
            self._return(operation)
        elif operation.name == "onnx.Constant":
            self._constant(operation)
        elif operation.name.startswith("onnx."):
            self._prefix_form(operation)
        else:
            self.refuse(f"{operation.name} is not known in this form", operation.position)

    def _prefix_form(self, operation: Operation) -> None:
        """`onnx.Op(%x, %y) {attributes} : type`, with or without the brackets around the operands."""
        if self._current_token.text == "(":
            operation.operands = self._operands()
        elif self._at(MLIRTokenKind.PERCENT_IDENT):
            operation.operands = self.parse_comma_separated_list(self.Delimiter.NONE, self._operand)
        if self._current_token.text == "{":
            self._add_attributes(operation)
        self.parse_punctuation(":")
        if self._current_token.text == "(":
            operation.types = self.parse_function_type()
        else:
            results = self.parse_comma_separated_list(self.Delimiter.NONE, self.parse_value_type)
            operation.types = FunctionType((), tuple(results))

    def _constant(self, operation: Operation) -> None:
        type: Type | None = None
        if self._current_token.text == "{":
            self._add_attributes(operation)
        else:
            operation.attributes["value"] = self.parse_attribute()
            if self._current_token.text == "{":
                self._add_attributes(operation)
        if self.parse_optional_punctuation(":") is not None:
            type = self.parse_value_type()
        operation.types = FunctionType((), (type,))

    def _return(self, operation: Operation) -> None:
        operation.name = _OLD_NAMES.get(operation.name, operation.name)
        if self._current_token.text == "{":
            self._add_attributes(operation)
        if not self._at(MLIRTokenKind.PERCENT_IDENT):
            return
        operation.operands = self.parse_comma_separated_list(self.Delimiter.NONE, self._operand)
        self.parse_punctuation(":")
        types = self.parse_comma_separated_list(self.Delimiter.NONE, self.parse_value_type)
        operation.types = FunctionType(tuple(types), ())

    # ---- regions, modules, functions -------------------------------------------------------------------------

    def _region(self) -> Block:
        """`{ operations }` with one block, whose label may be left out."""
        self.parse_punctuation("{")
        block = Block()
        if self._at(MLIRTokenKind.CARET_IDENT):
            self._consume_token()
            if self._current_token.text == "(":
                block.arguments = self.parse_comma_separated_list(self.Delimiter.PAREN, self._argument)
            self.parse_punctuation(":")
        while self.parse_optional_punctuation("}") is None:
            if self._at(MLIRTokenKind.CARET_IDENT):
                self.refuse("a region of the onnx dialect has one block")
            block.operations.append(self.operation())
        return block

    def _argument(self) -> Argument:
        if not self._at(MLIRTokenKind.PERCENT_IDENT):
            return Argument("", self.parse_value_type())
        name = self._consume_token().text[1:]
        self.parse_punctuation(":")
        argument = Argument(name, self.parse_value_type())
        if self._current_token.text == "{":
            argument.attributes, argument.texts = self.parse_dictionary()
        argument.location = self._optional_location()
        return argument

    def _module(self, operation: Operation) -> None:
        if self._at(MLIRTokenKind.AT_IDENT):
            self._consume_token()
        if self.parse_optional_keyword("attributes") is not None:
            self._add_attributes(operation)
        operation.blocks = [self._region()]

    def _function(self, operation: Operation) -> None:
        """`func.func private @name(arguments) -> results attributes {...} { body }`."""
        self.parse_optional_keyword_in(("private", "public", "nested"))
        if not self._at(MLIRTokenKind.AT_IDENT):
            self.refuse("the function has no name")
        name = self._symbol()
        block = Block(self.parse_comma_separated_list(self.Delimiter.PAREN, self._argument))
        results = self._function_results() if self.parse_optional_punctuation("->") is not None else []
        if self.parse_optional_keyword("attributes") is not None:
            self._add_attributes(operation)
        operation.attributes |= {"sym_name": name, "arguments": block.arguments, "results": results}
        if self._current_token.text == "{":
            body = self._region()
            operation.blocks = [Block(block.arguments, body.operations)]

    def _function_results(self) -> list[Argument]:
        if self._current_token.text != "(":
            return [Argument("", self.parse_value_type())]

        def result() -> Argument:
            match = Argument("", self.parse_value_type())
            if self._current_token.text == "{":
                match.attributes, match.texts = self.parse_dictionary()
            return match

        return self.parse_comma_separated_list(self.Delimiter.PAREN, result)


def _function(operation: Operation) -> Function:
    """A function in custom form, or in generic form, where its type is an attribute."""
    attributes = operation.attributes
    name = attributes.get("sym_name")
    results = attributes.get("results")
    if results is None:
        type = attributes.get("function_type")
        results = [Argument("", each) for each in type.results] if isinstance(type, FunctionType) else []
        for argument, entry in zip(results, attributes.get("res_attrs", ()), strict=False):
            argument.attributes = entry if isinstance(entry, dict) else {}
        block = operation.blocks[0] if operation.blocks else None
        for argument, entry in zip(block.arguments if block else (), attributes.get("arg_attrs", ()), strict=False):
            argument.attributes = entry if isinstance(entry, dict) else {}
    texts = {
        k: v
        for k, v in operation.texts.items()
        if k not in ("sym_name", "function_type", "arg_attrs", "res_attrs", "sym_visibility")
    }
    return Function(
        name.name if isinstance(name, Symbol) else str(name or ""),
        operation.position,
        operation.blocks[0] if operation.blocks else None,
        [argument.type for argument in results],
        [argument.attributes for argument in results],
        [argument.texts for argument in results],
        texts,
        operation.location,
        [argument.type for argument in attributes.get("arguments", ())],
    )


def split_text(text: str) -> list[tuple[int, str]]:
    """The pieces between lines `// -----`, each with the number of lines before it."""
    pieces, start = [], 0
    for match in [*re.finditer(r"^[ \t]*// -----.*$", text, re.MULTILINE), None]:
        end = len(text) if match is None else match.start()
        pieces.append((text.count("\n", 0, start), text[start:end]))
        start = len(text) if match is None else match.end()
    return pieces
