"""Layers with bodies: Loop, TensorIterator and If, read and written.

`read` makes hub loops and branches of them, after `port_maps` has checked how a body is connected; `slices` and
`trip_counts` hold the documented meaning of slices, `plugin_slices` that of the CPU plugin. `write` and `write_loop`
are the other direction, with `write_bodies` for the ports of a body and `write_collected` for concatenated outputs.
"""
