"""The `whorl` command: a verb is a file of `verbs`, an exit code is something that scripts can rely on."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress

from whorl.cli.streams import model_streams
from whorl.cli.terminal import paint
from whorl.cli.usage import UsageError
from whorl.cli.verbs import VERBS
from whorl.errors import LimitError, LoadError, RunError, WhorlError
from whorl.ir.forking import import_whole
from whorl.ir.suggestions import suggest

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
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        arguments = _parse(words)
    except SystemExit as stop:
        return int(stop.code or 0)
    except UsageError as error:
        return _report(error, as_document="--json" in words)
    try:
        with model_streams(arguments):
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
        return _report(error, arguments.json)
    except OSError as error:
        where = f"cannot open {os.fsdecode(error.filename)!r}: " if isinstance(error.filename, str | bytes) else ""
        return _report(WhorlError(f"{where}{error.strerror or error}"), arguments.json)
    except MemoryError as error:
        return _report(WhorlError(str(error) or type(error).__name__), arguments.json)


def _parse(words: list[str]) -> argparse.Namespace:
    """The arguments of the verb that is asked for. Errors: UsageError for a verb or an option that there is not."""
    verb = next((word for word in words if not word.startswith("-")), None)
    if verb is not None and verb not in VERBS:
        raise UsageError(f"there is no verb {verb!r}", fix=suggest(verb, VERBS) or "whorl --help lists them")
    parser = command_line([verb] if verb is not None else [])
    arguments, others = parser.parse_known_args(words)
    if unknown := [word for word in others if word.startswith("-")]:
        option = unknown[0].partition("=")[0]
        known = [flag for action in _parser_of(parser, arguments.verb)._actions for flag in action.option_strings]
        fix = suggest(option, known) or f"whorl {arguments.verb} --help lists the options"
        raise UsageError(f"{arguments.verb} has no option {option}", fix=fix)
    if others:
        raise UsageError(f"{arguments.verb} takes no further argument {others[0]!r}", fix="leave it out")
    return arguments


def _parser_of(parser: argparse.ArgumentParser, verb: str) -> argparse.ArgumentParser:
    verbs = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return verbs.choices[verb]


def command_line(verbs: Collection[str] = VERBS) -> argparse.ArgumentParser:
    """The parser: it lists all verbs, and has the options of some."""
    parser = argparse.ArgumentParser(
        "whorl",
        description="Control flow in tensor graphs: run, show, check, convert and compare models with loops.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"whorl {import_whole('whorl').__version__}")
    listed = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in VERBS:
        if name not in verbs:
            listed.add_parser(name, help=VERBS.summary(name))
            continue
        verb = VERBS[name]
        added = listed.add_parser(
            name,
            help=VERBS.summary(name),
            description=verb.__doc__,
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.add_arguments(added)
        if added.get_default("json") is None:
            added.add_argument("--json", action="store_true", help="print one JSON document instead of text")
        added.set_defaults(execute=verb.execute)
    return parser


def _report(error: WhorlError, as_document: bool) -> int:
    """Print an error on standard error, with --json as a document too, and return the exit code."""
    code = _exit_code(error)
    text, hint, fix = str(error).partition("\n  fix: ")
    print(f"{paint('whorl:', 'bad', sys.stderr)} {text}{paint(hint + fix, 'hint', sys.stderr)}", file=sys.stderr)
    if as_document:
        entry = {"kind": type(error).__name__, "message": error.message, "where": error.where, "fix": error.fix}
        import_whole("whorl.cli.documents").print_document({"error": entry, "exit_code": code})
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
