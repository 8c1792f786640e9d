"""The `whorl` command: a verb is a file of `verbs`, an exit code is something that scripts can rely on."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from whorl.cli.arguments import UsageError
from whorl.cli.documents import print_document
from whorl.cli.verbs import VERBS
from whorl.errors import LimitError, LoadError, RunError, WhorlError

OK, DIFFERENT, USAGE, LOAD, RUN, LIMIT, OTHER, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130
EXIT_CODES = {
    OK: "done, and nothing to complain about",
    DIFFERENT: "results differ, problems were found, or cases failed",
    USAGE: "wrong use of the command line",
    LOAD: "the model cannot be loaded",
    RUN: "the run failed",
    LIMIT: "a limit stopped the run",
    OTHER: "another error, such as an output that cannot be written",
    INTERRUPTED: "interrupted from the keyboard",
}
EPILOG = "exit codes:\n" + "\n".join(f"  {code:<5}{meaning}" for code, meaning in EXIT_CODES.items())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; `argv` excludes the program's name."""
    try:
        arguments = command_line().parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        code = arguments.execute(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _discard_output()
        return OK
    except KeyboardInterrupt:
        print("whorl: interrupted", file=sys.stderr)
        return INTERRUPTED
    except WhorlError as error:
        return _report(error, arguments)
    except (OSError, MemoryError) as error:
        return _report(WhorlError(str(error) or type(error).__name__), arguments)


def command_line() -> argparse.ArgumentParser:
    """The parser of all verbs."""
    parser = argparse.ArgumentParser(
        "whorl",
        description="Control flow in tensor graphs: run, show, check, convert and compare models with loops.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"whorl {importlib.import_module('whorl').__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, verb in VERBS.items():
        description = verb.__doc__ or ""
        added = verbs.add_parser(
            name,
            help=description.partition("\n")[0],
            description=description,
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.add_arguments(added)
        if added.get_default("json") is None:
            added.add_argument("--json", action="store_true", help="print one JSON document instead of text")
        added.set_defaults(execute=verb.execute)
    return parser


def _report(error: WhorlError, arguments: argparse.Namespace) -> int:
    """Print an error on standard error, with --json as a document too, and return the exit code."""
    code = _exit_code(error)
    print(f"whorl: {error}", file=sys.stderr)
    if arguments.json:
        entry = {"kind": type(error).__name__, "message": error.message, "where": error.where, "fix": error.fix}
        print_document({"error": entry, "exit_code": code})
    return code


def _exit_code(error: WhorlError) -> int:
    match error:
        case UsageError():
            return USAGE
        case LoadError():
            return LOAD
        case LimitError():
            return LIMIT
        case RunError():
            return RUN
        case _:
            pass
    return OTHER


def _discard_output() -> None:
    """Send buffered output to the null device: flushing it into the closed pipe as Python ends would fail again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
