"""The exceptions a user can meet, and how the location of a failure is written."""

from __future__ import annotations


class WhorlError(Exception):
    """Base of every error: what failed, where, and what mends it."""

    def __init__(self, message: str, where: str = "", fix: str = "") -> None:
        super().__init__(message, where, fix)
        self.message, self.where, self.fix = message, where, fix

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n  fix: {self.fix}" if self.fix else text

    def at(self, where: str) -> WhorlError:
        """The same error with a location, unless it already has one."""
        return self if self.where else type(self)(self.message, where, self.fix)


class LoadError(WhorlError, RuntimeError):
    """A file or model cannot be read."""


class UnsupportedError(LoadError):
    """The model uses something that no part of whorl implements."""


class SaveError(WhorlError):
    """A module cannot be expressed in the chosen format or version."""


class TypeRuleError(WhorlError):
    """An op is applied to types it does not accept."""


class VerifyError(WhorlError):
    """A module breaks a rule of the IR; a bug in whoever built it."""


class CompileError(WhorlError):
    """A model cannot be made into machine code ahead of time."""


class DeloopError(WhorlError):
    """A loop or branch cannot be unrolled."""


RemovalError = DeloopError
"""The former name of `DeloopError`."""


class StepError(WhorlError):
    """A model is no step that can be repeated, or a loop has no step that can run alone."""


class VmapError(WhorlError):
    """A model cannot be computed for many rows at once."""


class RunError(WhorlError, RuntimeError):
    """A run failed: bad feeds, or an op that refuses its values."""


class FeedError(RunError, ValueError):
    """A run lacks inputs."""


class LimitError(RunError):
    """A run was stopped by a limit; the session stays usable."""


class IterationLimitError(LimitError):
    """A loop wanted more iterations than `max_iterations`."""


class TimeLimitError(LimitError):
    """A run took longer than `timeout` seconds."""


class MemoryLimitError(LimitError):
    """A run wanted to hold more than `max_memory` bytes."""


class CancelledError(LimitError):
    """Another thread asked the run to stop."""


def format_title(kind: str, name: str) -> str:
    """`Gather 'read_row'`, or `Gather` where the node has no name."""
    return f"{kind} {name!r}" if name else kind


def format_location(node: str, *regions: str) -> str:
    """A node and the regions around it, innermost first: `Gather 'g' in body of Loop 'l' (iteration 3)`."""
    return " in ".join((node, *regions))
