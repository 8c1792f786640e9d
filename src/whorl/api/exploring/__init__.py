"""The explorer: a page that shows a model's loops, and what was recorded in them.

- `dependence`: what the nodes of a body depend on. `graphs`: bodies as data. `packing`: arrays in few bytes.
  `ticks`: which iterations a page has. `recorded`: a trace as data. `comparing`: where two traces part.
  `costs`: what nodes took.
- `document`: all of it in one document. `page`: the file around it. `serving`: the page without a
  file. `exploring`: `explore`.

The page's program is in `web`, built from `explorer/` of the repository.
"""
