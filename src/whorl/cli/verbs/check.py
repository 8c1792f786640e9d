"""Report what is odd about a model's control flow, with what to do about it."""

from __future__ import annotations

import argparse

from msgspec.structs import asdict

from whorl.api.check import check
from whorl.cli.arguments import add_model, load_options
from whorl.cli.documents import print_document
from whorl.cli.terminal import paint

COLOURS = {"error": "bad", "warning": "doubtful", "note": "hint"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 for warnings and notes too, not for errors only"
    )


def execute(arguments: argparse.Namespace) -> int:
    problems = check(arguments.model, load_options(arguments))
    if arguments.json:
        print_document({"problems": [asdict(problem) for problem in problems]})
    elif not problems:
        print("nothing to complain about")
    else:
        for problem in problems:
            severity = paint(problem.severity, COLOURS[problem.severity])
            fix = paint(f"  fix: {problem.fix}", "hint")
            print(f"{severity} [{problem.code}] {problem.where}: {problem.message}\n{fix}")
    return int(any(arguments.strict or problem.severity == "error" for problem in problems))
