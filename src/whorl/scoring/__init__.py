"""Models over tables: rows read, computed in batches, and written part by part, here or on the workers of an engine.

`columns` is between Arrow and arrays, `layouts` says how columns meet inputs, `rows` computes a table, `batches`
chooses how many rows at once; `sources` and `arrays` read, `parts` writes, `engines` and `frames` hand parts out.
"""
