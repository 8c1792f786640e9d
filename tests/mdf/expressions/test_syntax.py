"""The whitelist of syntax: what is read, and what is refused without being run."""

import pytest

from whorl.errors import LoadError
from whorl.mdf.expressions.syntax import parse


def test_names_are_the_ones_that_are_read():
    expression = parse("numpy.exp(-V / tau) if math.pi > t else W[k]", "here")
    assert expression.names == {"V", "tau", "t", "W", "k"}
    assert not expression.draws


REFUSED = {
    "__import__('os').getpid()": "\"__import__('os').getpid\" is not allowed",
    "().__class__": "'().__class__' is not allowed",
    "x.__class__": "'x.__class__' is not allowed",
    "lambda: 1": "'lambda: 1' is not allowed",
    "[i for i in x]": "'[i for i in x]' is not allowed",
    "open('x')": "'open' is not allowed",
    "eval('1')": "'eval' is not allowed",
    "getattr(x, 'T')": "'getattr' is not allowed",
    "numpy.load('x')": "'numpy.load' is not allowed",
    "numpy.fromfile('x')": "'numpy.fromfile' is not allowed",
    "numpy.lib": "'numpy.lib' is not allowed",
    "x.tofile('a')": "'x.tofile' is not allowed",
    "f'{x}'": "\"f'{x}'\" is not allowed",
    "(a := 3)": "'a := 3' is not allowed",
    "numpy.add(x, x, out=x)": "has an argument that is not allowed: out",
    "await x": "'await x' is not allowed",
    "1j": "'1j' is not allowed",
    "x = 3": "is not an expression: invalid syntax",
    "a if": "is not an expression",
    "a\0": "is not an expression",
    "(" * 300 + "a" + ")" * 300: "is not an expression: too many nested parentheses",
    "-" * 300 + "a": "is nested too deeply",
    "a" * 30_000: "has 30000 characters, at most 20000 are read",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_name_the_expression_and_the_part(text):
    with pytest.raises(LoadError) as raised:
        parse(text, "parameter 'p'")
    shown = str(raised.value)
    assert REFUSED[text] in shown
    assert shown.startswith(f"parameter 'p': expression {(text if len(text) <= 80 else text[:77] + '...')!r}")


def test_nothing_is_executed(monkeypatch):
    called = []
    monkeypatch.setattr("builtins.__import__", lambda *a, **k: called.append(a))
    with pytest.raises(LoadError):
        parse("__import__('os').system('true')")
    assert not called
