"""The `whorl` command: one verb a file, exit codes that scripts can rely on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from whorl.cli import check, compare, conformance, convert, run, show
from whorl.errors import LimitError, LoadError, RunError, WhorlError

VERBS = (run, show, check, convert, compare, conformance)

OK, DIFFERENT, USAGE, LOAD, RUN, LIMIT, OTHER = 0, 1, 2, 3, 4, 5, 6
EXIT_CODES = """exit codes:
  0  done, and nothing to complain about
  1  results differ, problems were found, or cases failed
  2  wrong use of the command line
  3  the model cannot be loaded
  4  the run failed
  5  a limit stopped the run
  6  another error, such as an output that cannot be written
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; `argv` excludes the program's name."""
    parser = argparse.ArgumentParser(
        "whorl",
        description="Control flow in tensor graphs: run, show, check, convert and compare models with loops.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        name = verb.__name__.rsplit(".", 1)[-1]
        summary = (verb.__doc__ or "").partition("\n")[0]
        added = verbs.add_parser(
            name,
            help=summary,
            description=verb.__doc__,
            epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.add_argument("--json", action="store_true", help="print one JSON document instead of text")
        verb.add_arguments(added)
        added.set_defaults(execute=verb.execute)
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        return arguments.execute(arguments)
    except WhorlError as error:
        print(f"whorl: {error}", file=sys.stderr)
        return _exit_code(error)
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except KeyboardInterrupt:
        print("whorl: interrupted", file=sys.stderr)
        return LIMIT


def _exit_code(error: WhorlError) -> int:
    match error:
        case LoadError():
            return LOAD
        case LimitError():
            return LIMIT
        case RunError():
            return RUN
    return OTHER
