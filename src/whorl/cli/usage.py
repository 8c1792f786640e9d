"""The error of a command line that asks for something that cannot be."""

from whorl.errors import WhorlError


class UsageError(WhorlError):
    """The command line asks for something that cannot be."""
