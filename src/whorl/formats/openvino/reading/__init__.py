"""From a `document.Net` to hub nodes.

`net` reads the layers in the order of their needs (`wiring`), each by its function in `importer`'s registry, with the
state of the file in `context`. `states` and `variables` turn ReadValue and Assign into state of the module,
`saturation` imitates the CPU plugin's bytes, `opaque` makes layers of unknown types one node each.
"""
