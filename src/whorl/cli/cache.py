"""Show or clear the folder of compiled code.

Code is kept between processes in the folder that WHORL_CACHE names, else in the user's cache folder; an empty
WHORL_CACHE keeps none. What was not read for longest goes where all takes more than half a gigabyte.
"""

from __future__ import annotations

import argparse

from whorl.cli.documents import print_document
from whorl.codegen import cache


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clear", action="store_true", help="remove everything in it")


def execute(arguments: argparse.Namespace) -> int:
    removed = cache.trim(0) if arguments.clear else 0
    found = cache.entries()
    told = {"folder": str(cache.folder() or ""), "entries": len(found), "bytes": sum(s.st_size for _, s in found)}
    if arguments.json:
        print_document(told | {"removed": removed})
        return 0
    if arguments.clear:
        print(f"removed {removed} entries")
    print(f"{told['folder'] or 'no folder'}: {told['entries']} entries, {told['bytes']} bytes")
    return 0
