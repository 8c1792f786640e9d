"""The syntax of RE2 regular expressions: patterns as trees.

Left out, with an error: Unicode scripts (`\\p{Greek}`; general categories such as `\\p{Lu}` work) and `\\C`.
Ignoring case follows the simple mappings of Python's str.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

MAX_REPEAT = 1000
MAX_DEPTH = 100


class PatternError(ValueError):
    """The pattern is not RE2, or uses a part of it that is left out."""


Accepts = Callable[[str], bool]
"""Whether a set has a character."""


class Chars(Struct, frozen=True):
    """One character out of a set."""

    accepts: Accepts


class Assertion(Struct, frozen=True):
    """A position in the text: `begin`, `end`, `line_begin`, `line_end`, `boundary`, `inside`."""

    kind: str


class Sequence(Struct, frozen=True):
    parts: tuple[Tree, ...]


class Choice(Struct, frozen=True):
    parts: tuple[Tree, ...]


class Repeat(Struct, frozen=True):
    part: Tree
    least: int
    most: int | None


Tree = Chars | Assertion | Sequence | Choice | Repeat


def is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def fold(char: str) -> str:
    """The character that stands for all those that differ in case only."""
    upper = _upper(char)
    lower = upper.lower()
    return lower if len(lower) == 1 else upper


def _upper(char: str) -> str:
    upper = char.upper()
    return upper if len(upper) == 1 else char


def _ascii(characters: str) -> Accepts:
    members = frozenset(characters)
    return lambda c: c in members


_PRINTED = "".join(map(chr, range(33, 127)))
_DIGITS, _LOWER = "0123456789", "abcdefghijklmnopqrstuvwxyz"
_POSIX: dict[str, Accepts] = {
    "alnum": _ascii(_DIGITS + _LOWER + _LOWER.upper()),
    "alpha": _ascii(_LOWER + _LOWER.upper()),
    "ascii": str.isascii,
    "blank": _ascii("\t "),
    "cntrl": _ascii("".join(map(chr, range(32))) + "\x7f"),
    "digit": _ascii(_DIGITS),
    "graph": _ascii(_PRINTED),
    "lower": _ascii(_LOWER),
    "print": _ascii(_PRINTED + " "),
    "punct": _ascii("".join(c for c in _PRINTED if not c.isalnum())),
    "space": _ascii("\t\n\v\f\r "),
    "upper": _ascii(_LOWER.upper()),
    "word": is_word,
    "xdigit": _ascii(_DIGITS + "abcdefABCDEF"),
}
_PERL: dict[str, Accepts] = {"d": _POSIX["digit"], "s": _ascii("\t\n\f\r "), "w": is_word}
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_CATEGORIES = {"C": "cfos", "L": "lmotu", "M": "cen", "N": "dlo", "P": "cdefios", "S": "ckmo", "Z": "lps"}


class Flags(Struct, frozen=True):
    """i: ignore case, m: ^ and $ at lines, s: the dot takes newlines. (U only changes which match is preferred.)"""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


class Parser:
    """Recursive descent over one pattern."""

    def __init__(self, pattern: str) -> None:
        self.text, self.at, self.flags, self.depth = pattern, 0, Flags(), 0

    def parse(self) -> Tree:
        tree = self.choice()
        if self.at < len(self.text):
            raise PatternError(f"unexpected ) at {self.at}")
        return tree

    # ---- structure ---------------------------------------------------------------------------------------------

    def peek(self, prefix: str) -> bool:
        return self.text.startswith(prefix, self.at)

    def take(self, prefix: str) -> bool:
        matched = self.peek(prefix)
        self.at += len(prefix) * matched
        return matched

    def next(self, what: str) -> str:
        if self.at >= len(self.text):
            raise PatternError(f"missing {what} at the end")
        self.at += 1
        return self.text[self.at - 1]

    def until(self, end: str, what: str) -> str:
        stop = self.text.find(end, self.at)
        if stop < 0:
            raise PatternError(f"missing {end} after {what}")
        chars, self.at = self.text[self.at : stop], stop + len(end)
        return chars

    def choice(self) -> Tree:
        """Alternatives up to the closing parenthesis; flags set inside end with it."""
        flags, self.depth = self.flags, self.depth + 1
        if self.depth > MAX_DEPTH:
            raise PatternError(f"nested deeper than {MAX_DEPTH}")
        parts = [self.sequence()]
        while self.take("|"):
            parts.append(self.sequence())
        self.flags, self.depth = flags, self.depth - 1
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Tree:
        parts: list[Tree] = []
        while self.at < len(self.text) and not self.peek("|") and not self.peek(")"):
            if self.take("\\Q"):
                stop = self.text.find("\\E", self.at)
                quoted = self.text[self.at :] if stop < 0 else self.text[self.at : stop]
                self.at += len(quoted) + 2 * (stop >= 0)
                parts += [self.literal(c) for c in quoted[:-1]]
                if quoted:
                    parts.append(self.repeated(self.literal(quoted[-1])))
            else:
                atom = self.atom()
                if atom is not None:
                    parts.append(self.repeated(atom))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self, atom: Tree) -> Tree:
        """An atom with the repetition behind it; two repetitions in a row are an error, as in Perl."""
        bounds = self.bounds()
        if bounds is None:
            return atom
        self.take("?")
        if self.bounds() is not None:
            raise PatternError(f"two repetitions in a row before {self.at}")
        return Repeat(atom, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        stop = self.text.find("}", self.at) if self.peek("{") else -1
        low, comma, high = self.text[self.at + 1 : stop].partition(",") if stop > 0 else ("", "", "")
        if not _is_number(low) or (high and not _is_number(high)):
            return None
        least, most = int(low), int(high) if high else None if comma else int(low)
        if max(least, most or 0) > MAX_REPEAT or (most is not None and most < least):
            raise PatternError(f"bad repetition {self.text[self.at : stop + 1]}")
        self.at = stop + 1
        return least, most

    # ---- atoms -------------------------------------------------------------------------------------------------

    def atom(self) -> Tree | None:
        """One item of a sequence; None for a group that only sets flags."""
        char = self.next("an item")
        match char:
            case "(":
                return self.group()
            case "[":
                return Chars(self.bracket())
            case ".":
                return Chars((lambda c: True) if self.flags.s else (lambda c: c != "\n"))
            case "^":
                return Assertion("line_begin" if self.flags.m else "begin")
            case "$":
                return Assertion("line_end" if self.flags.m else "end")
            case "\\":
                return self.escape()
            case _:
                pass
        self.at -= 1
        if self.bounds() is not None:
            raise PatternError(f"nothing to repeat before {char}")
        self.at += 1
        return self.literal(char)

    def literal(self, char: str) -> Chars:
        if self.flags.i:
            folded = fold(char)
            return Chars(lambda c: fold(c) == folded)
        return Chars(lambda c: c == char)

    def group(self) -> Tree | None:
        outer = self.flags
        if self.take("?P<") or self.take("?<"):
            name = self.until(">", "a group name")
            if not name or not all(is_word(c) for c in name):
                raise PatternError(f"bad group name {name!r}")
        elif self.take("?") and not self.read_flags():
            return None
        tree = self.choice()
        if not self.take(")"):
            raise PatternError("missing )")
        self.flags = outer
        return tree

    def read_flags(self) -> bool:
        """Flags after `(?`; whether a group follows (`:`) or the flags hold for the rest of the one around (`)`)."""
        value, dangling = True, False
        while (char := self.next(")")) not in ":)":
            if char not in ("imsU-" if value else "imsU"):
                raise PatternError(f"(?{char} is not RE2")
            dangling = char == "-"
            if dangling:
                value = False
            else:
                self.flags = replace(self.flags, **{char: value})
        if dangling:
            raise PatternError("(?- sets no flag")
        return char == ":"

    def escape(self) -> Tree:
        assertions = {"A": "begin", "z": "end", "b": "boundary", "B": "inside"}
        if self.at < len(self.text) and self.text[self.at] in assertions:
            return Assertion(assertions[self.next("an escape")])
        chars = self.char_class()
        return Chars(chars) if chars is not None else self.literal(self.escaped_char())

    def char_class(self) -> Accepts | None:
        """The class after a backslash: \\d, \\pL, \\P{Lu}; None if there is none."""
        if self.at >= len(self.text):
            return None
        char = self.text[self.at]
        if char.lower() in _PERL and char.isascii():
            self.at += 1
            return self.folded(_PERL[char.lower()], inverted=char.isupper())
        if char not in "pP":
            return None
        self.at += 1
        name = self.until("}", "\\p{") if self.take("{") else self.next("a category")
        inverted = (char == "P") != name.startswith("^")
        return self.folded(_category(name.removeprefix("^")), inverted)

    def escaped_char(self) -> str:
        char = self.next("an escape")
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "x":
            digits = self.until("}", "\\x{") if self.take("{") else self.next("a digit") + self.next("a digit")
            return _code(digits, 16)
        if char == "0" or (char in "1234567" and self.text[self.at : self.at + 1] in tuple("01234567")):
            digits = char
            while len(digits) < 3 and self.text[self.at : self.at + 1] in tuple("01234567"):
                digits += self.next("a digit")
            return _code(digits, 8)
        if char.isascii() and not char.isalnum():
            return char
        raise PatternError(f"escape \\{char} is not RE2, or left out here")

    # ---- bracket expressions -----------------------------------------------------------------------------------

    def bracket(self) -> Accepts:
        """A set in brackets, after the opening one."""
        inverted = self.take("^")
        members: list[Accepts] = []
        first = True
        while first or not self.peek("]"):
            if self.at >= len(self.text):
                raise PatternError("missing ]")
            first = False
            members.append(self.member())
        self.at += 1
        return _any_of(tuple(members), inverted)

    def member(self) -> Accepts:
        if self.peek("[:") and self.text.find(":]", self.at + 2) >= 0:
            self.at += 2
            name = self.until(":]", "[:")
            if name.removeprefix("^") not in _POSIX:
                raise PatternError(f"[:{name}:] is not a class")
            return self.folded(_POSIX[name.removeprefix("^")], inverted=name.startswith("^"))
        if self.take("\\"):
            chars = self.char_class()
            if chars is not None:
                return chars
            self.at -= 1
        low = self.member_char()
        high = low
        if self.peek("-") and not self.text.startswith("-]", self.at):
            self.at += 1
            high = self.member_char()
        if high < low:
            raise PatternError(f"bad range {low}-{high}")
        if low == high:
            return self.literal(low).accepts
        return self.folded(lambda c: low <= c <= high)

    def member_char(self) -> str:
        char = self.next("]")
        return self.escaped_char() if char == "\\" else char

    def folded(self, accepts: Accepts, inverted: bool = False) -> Accepts:
        """The set with what differs in case only, if case is ignored; then turned round if `inverted`."""
        if self.flags.i:
            return lambda c: any(accepts(same) for same in (c, fold(c), _upper(fold(c)))) != inverted
        return (lambda c: not accepts(c)) if inverted else accepts


def _any_of(members: tuple[Accepts, ...], inverted: bool) -> Accepts:
    return lambda c: any(accepts(c) for accepts in members) != inverted


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _category(name: str) -> Accepts:
    if name == "Any":
        return lambda c: True
    if len(name) not in (1, 2) or name[1:] not in ("", *_CATEGORIES.get(name[0], ())) or name[0] not in _CATEGORIES:
        raise PatternError(f"Unicode class {name!r} is not known here")
    return lambda c: unicodedata.category(c).startswith(name)


def _code(digits: str, base: int) -> str:
    allowed = "01234567" if base == 8 else "0123456789abcdefABCDEF"
    number = int(digits, base) if digits and all(c in allowed for c in digits) else -1
    if not 0 <= number <= 0x10FFFF:
        raise PatternError(f"bad character number {digits!r}")
    return chr(number)
