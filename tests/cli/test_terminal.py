"""Colours: on terminals that have them, and nowhere else."""

import io
import sys

import pytest

from whorl.cli.terminal import has_colours, paint


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal_with_colours(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_terminal_has_colours_and_a_file_has_none():
    assert has_colours(Terminal()) and not has_colours(io.StringIO())
    assert paint("equal", "good", Terminal()) == "\033[32mequal\033[0m"
    assert paint("equal", "good", io.StringIO()) == "equal"
    assert paint("", "good", Terminal()) == ""


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_environment_turns_colours_off(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    assert not has_colours(Terminal())


def test_errors_and_problems_have_colours_on_a_terminal(monkeypatch, whorl, saved):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert whorl("fly").code == 2
    assert stream.getvalue() == (
        "\033[31mwhorl:\033[0m there is no verb 'fly'\033[36m\n  fix: whorl --help lists them\033[0m\n"
    )
