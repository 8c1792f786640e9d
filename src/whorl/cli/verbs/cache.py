"""Show or clear the folder of compiled code.

Processes share compiled code in the folder that WHORL_CACHE names, else in the user's cache folder; an empty
WHORL_CACHE turns that off. Above half a gigabyte, the least recently read entries are removed.
"""

from __future__ import annotations

import argparse

from whorl.cli.documents import print_document
from whorl.codegen import cache


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clear", action="store_true", help="remove everything in it")


def execute(arguments: argparse.Namespace) -> int:
    removed = cache.trim(0) if arguments.clear else 0
    entries = cache.entries()
    summary = {
        "folder": str(cache.folder() or ""),
        "entries": len(entries),
        "bytes": sum(s.st_size for _, s in entries),
    }
    if arguments.json:
        print_document(summary | {"removed": removed})
        return 0
    if arguments.clear:
        print(f"removed {removed} entries")
    print(f"{summary['folder'] or 'no folder'}: {summary['entries']} entries, {summary['bytes']} bytes")
    return 0
