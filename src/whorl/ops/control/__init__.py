"""If and Loop, the only control flow. `flow` says their types, `iteration` runs a loop."""
