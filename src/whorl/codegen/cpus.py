"""Names of CPUs, tried in a process of their own: LLVM ignores those that it does not know, or ends the process."""

from __future__ import annotations

import re
import sys

from whorl.errors import CompileError
from whorl.ir.suggestions import choose

_TRIAL = """
import sys
from llvmlite import binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
triple, cpu = sys.argv[1:]
machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu)
machine.emit_object(llvm.parse_assembly(f'target triple = "{triple}"\\ndefine void @f() {{ ret void }}'))
"""
_IGNORED = "is not a recognized processor"
_LISTED = re.compile(r"^\s+(\S+)\s+- Select the \S+ processor", re.MULTILINE)


def require_cpu(triple: str, cpu: str) -> None:
    """CompileError where LLVM has no CPU of this name that runs code of the target."""
    status, text = _try(triple, cpu)
    if _IGNORED in text or cpu == "help":
        names = _LISTED.findall(_try(triple, "help")[1])
        raise CompileError(f"there is no CPU {cpu!r} for {triple!r}", fix=choose(cpu, names))
    if status != 0:
        reason = text.strip().rpartition("\n")[2]
        raise CompileError(f"no code of {triple!r} is for the CPU {cpu!r}: {reason}", fix="choose a newer CPU")


def _try(triple: str, cpu: str) -> tuple[int, str]:
    """How compiling nothing ends, and what LLVM prints."""
    import subprocess

    command = [sys.executable, "-c", _TRIAL, triple, cpu]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stderr
