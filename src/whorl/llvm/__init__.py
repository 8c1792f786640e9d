"""LLVM IR as text, written by one builder; no LLVM is needed to write it.

A `Module` has functions, constants, declarations and metadata by name, each with the names that it refers to, so that a
routine can be taken out with all it needs. A `Function` is blocks of instructions; a `Value` is a register or literal
whose Python operators append instructions. `Routine` is a function that is compiled once and linked to every program
that calls it, `Vectors` the vectors of an element type on the machine that is written for. `narrow` and `minifloats`
read, round and write floats narrower than float32.
"""
