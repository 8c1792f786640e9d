"""What a program is: types, dims, graph, constants, inference, verification and text.

A module is a region of nodes, each one op applied to typed values. Three invariants hold for every module, and `verify`
checks them: every value has a type; unknown dims have names, and two are equal only where that is proved; a region is
closed. Closed means that what a body reads from outside is an operand of its node and an argument of the region, so a
region is a function with a signature, and a pass needs no scope rules to move, clone, fold or run it.

Rooms: `graph`, `types`, `dims` and `dtypes` are the data; `op` is the contract of every op; `infer`, `verify`, `build`,
`rewrite` and `walk` work on regions; `constants` and `elements` hold weights without reading them; `text` prints and
`parse` reads the text form.
"""
