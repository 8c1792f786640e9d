"""Values of loop bodies and branches made outputs of the model, by an edit of the graph that every engine takes.

- `scopes`: the regions of a module and what lies around them; the path of each value.
- `windows`: which iterations count. `conditions`: those that a condition decides. `adding`, `carrying`: what edits are
  made of. `exposure`: the edit, and what its outputs are. `reading`: records from outputs.
"""
