"""One result an element: arithmetic, functions, comparisons, logic, activations, changes of the element type."""
