"""What happens inside loops and branches, recorded while a model runs.

- `recording`: `trace`, which edits a model so that its loops collect what they compute. `batches`: how much one run may
  record. `value_trace`: the result. `storage`: its files.
"""
