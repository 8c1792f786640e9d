"""Running modules: the interpreter, sessions and limits."""
