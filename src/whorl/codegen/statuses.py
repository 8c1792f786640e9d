"""What a program returns besides 0: why it ended early."""

NO_MEMORY = 1
"""Memory was refused, or an op that the runtime runs has failed."""
FIRST_FAILURE = 2
"""The first failure with a number of its own."""
STOPPED = -1
"""The runtime said not to go on."""
