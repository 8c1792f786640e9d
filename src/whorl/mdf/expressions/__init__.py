"""Expressions of MDF: `syntax` reads them, `walk` goes over them with the arithmetic of `arrays` or of `nodes`."""
