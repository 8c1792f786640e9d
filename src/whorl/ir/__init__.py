"""What a program is: types, dims, graph, constants, inference, verification and text."""
