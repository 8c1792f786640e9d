"""Constants that are computed when somebody reads them, block by block.

Folding a chain of large constants at once would hold each step in memory. Here a constant is an expression, and reading
is one primitive: `read(region)` answers a rectangle and asks its inputs for the rectangles that it needs. Leaves are
arrays of any strides (`base`), mapped files (`mapping`) and packed bytes with several elements each (`packed`); between
them are elementwise computations (`mapped`) and views (`views`). What is large is read by blocks, by whoever writes a
file, compares or sums; `numpy()` materialises the whole.

A result does not depend on blocks or strides: sums are halved where NumPy halves them (`sums`), reductions and products
take their operands in row-major order. Buffers go with their last reader; `pool` counts the live ones and spills what
passes the budget to a file without a name.
"""
