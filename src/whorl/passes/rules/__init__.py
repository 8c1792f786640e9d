"""Algebra as rewrite rules, one family a file.

A rule is a program on both sides: `Rule("AddConstAssociative1", add(once(add(x, c1)), c2), add(x, add(c1, c2)))`. What
no pattern can say is a function over a match (`NodeRule`). A rule that onnx-mlir has too bears its name, so that `whorl
opt` counts the same edits.
"""
