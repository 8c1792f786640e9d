"""Print a script that completes verbs and options in a shell.

For bash: whorl completion bash > ~/.local/share/bash-completion/completions/whorl. For zsh: whorl completion zsh >
_whorl, in a folder of fpath. For fish: whorl completion fish > ~/.config/fish/completions/whorl.fish.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from whorl.cli.documents import print_document
from whorl.errors import UnsupportedError
from whorl.ir.forking import import_whole

FILES = "MODEL", "OUT", "FILE", "PAGE"
"""What arguments are called that name files."""
SHELLS = "bash", "zsh", "fish", "tcsh", "powershell"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")


def execute(arguments: argparse.Namespace) -> int:
    try:
        import shtab
    except ModuleNotFoundError:
        raise UnsupportedError("shtab is not installed", fix="pip install 'whorl[completion]'") from None
    parser = import_whole("whorl.cli").command_line()
    for action in _actions(parser):
        if action.metavar in FILES:
            action.complete = shtab.FILE  # pyright: ignore[reportAttributeAccessIssue]
    script = shtab.complete(parser, arguments.shell).rstrip("\n")
    if arguments.json:
        print_document({"shell": arguments.shell, "script": script})
    else:
        print(script)
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments and options of all verbs."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from verb._actions
