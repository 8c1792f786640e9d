"""`python -m whorl.conformance`: run the suite on a backend, or write the page that compares several."""

from __future__ import annotations

import argparse
import sys

from whorl.conformance.backends import BACKENDS
from whorl.conformance.suite import run_and_report, write_page
from whorl.errors import RunError


def main(arguments: list[str] | None = None) -> int:
    """The exit code: that of `run_and_report`, 0 once the page is written, 2 where nothing could be run."""
    parser = argparse.ArgumentParser(prog="python -m whorl.conformance", description=__doc__)
    parser.add_argument("--backend", default="whorl", help=f"{', '.join(BACKENDS)}, or module:function of your own")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="run the cases named like this: while_*")
    parser.add_argument("--json", metavar="FILE", help="write the results to a file")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for one question to the engine")
    parser.add_argument("--page", metavar="FILE", help="write the page that compares all backends")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.page:
            write_page(chosen.page, list(BACKENDS))
            return 0
        return run_and_report(chosen.backend, chosen.json, chosen.only, chosen.timeout)
    except RunError as problem:
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
