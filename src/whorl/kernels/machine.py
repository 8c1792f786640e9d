"""Constants of the machines that kernels are written for: what fits registers, caches and vectors.

They are not part of what an op means. Those that layouts share with code are the same for all machines, so that weights
packed once serve every program; those of registers go by the width of vectors in bytes.
"""

from __future__ import annotations

# ---- products ------------------------------------------------------------------------------------------------

FEW_ROWS = 3
"""Rows up to which a product takes as long as reading its matrix."""
PANEL_BYTES, WIDE_PANEL_BYTES = 128, 256
"""Bytes of a row of a panel; wide panels are for few rows, where reading the matrix is the work."""
VECTOR_MATMUL_ROWS, VECTOR_MATMUL_BYTES = 8, 1 << 14
"""Rows that a vector is multiplied by side by side; the part of the result that stays near while rows go by."""
TILE_ROWS = {64: 12, 32: 6, 16: 6}
"""Rows of a tile by the width of vectors: with two vectors a row, sums and operands fill the registers."""
ANY_ROWS = (6, 4, 2, 1)
"""Rows of the tiles where only the run knows how many there are; they are as wide as registers allow."""
NARROW_ROWS = (12, 4, 1)
"""Those where one vector has all columns."""
BLOCK_ROWS = 192
"""Most rows that are multiplied together where only the run knows how many there are: for each such block the matrix is
read again, often from far away."""
NEAR_MATRIX_BYTES, FEW_BLOCKS = 1 << 23, 6
"""A matrix up to which size is read from a cache near a core, and blocks of rows from which cores may share these."""
SHARED_BYTES = 1 << 21
"""A matrix from which size is read from a cache that cores share, where little else has room beside it."""
FEW_SUMS = 8
"""Sums that do not wait for each other: tiles of few rows are so much wider, and few windows go by more features."""
FAR_BYTES, FAR_PANELS = 1 << 23, 2
"""Matrices larger than caches are read from several panels at once by few rows."""
PREFETCH_BYTES = 1024
"""How far before its use a matrix is fetched by few rows, where reading it is the work."""

AHEAD_BYTES = 1 << 13
"""How far before its use it is fetched by tiles of more rows, which compute longer on each line."""

# ---- convolutions --------------------------------------------------------------------------------------------

FILTER_BLOCK = 12
"""Most features whose sums are computed side by side."""
OVERREAD_BYTES = 512
"""Most bytes of windows that are computed side by side: so far beyond its last window an image may be read."""
CHANNEL_STEP = 16
"""Channels lie an odd multiple of so many elements apart, so that equal positions of them share no set of a cache."""
MAX_TAPS, MAX_ELEMENTS = 1 << 20, 1 << 31
"""Taps of a window, and elements of an image, that tables of int32 describe."""
TILE_SUMS = {64: 24, 32: 12, 16: 12}
"""Sums of a tile by the width of vectors: with operands they fill the registers."""
TILE_FEATURES = {64: 12, 32: 6, 16: 6}
"""Features of a tile, of which two vectors of windows are computed."""
TILE_VECTORS = 8
"""Most vectors of windows in a tile."""
GATHERING_FEATURES = {64: 96, 32: 48}
"""Features from which windows are gathered before filters go by them, by the width of vectors; others do not."""
GATHERED_BYTES, GATHERED_BLOCKS = 12288, 22
GATHERED_TILES = {64: 1, 32: 4, 16: 4}
"""A vector of each of the most taps that are gathered, of so many tiles by the width of vectors, and the blocks of
features that go by them. The nearest cache has room for the taps of a tile; the next one, and any stack, for all of
them with the sums of all blocks: 210 KB."""
SAME_FEATURES = 24
"""Features from which windows around every element are gathered from the image itself."""
SAME_WINDOWS = 32
"""Windows of one tap from which they are gathered so, too, where the image is too small to be read beyond its end."""
SMALL_FRAME, SMALL_FRAME_BYTES = (16, 1, 1), 32
"""Taps, tiles and blocks, and bytes of the widest vectors, where a frame of the stack is to be smaller than a page."""
PREFETCH_TAPS = 64
"""Taps ahead of which filters are fetched, most of them from far away."""
FEW_PARTS = 8
"""Parts of the windows from which several cores share these, and each goes through all filters; else the filters."""
FEW_TILES, LARGE_FILTERS = {64: 6, 32: 16, 16: 16}, {64: 12, 32: 4, 16: 4}
"""Tiles of windows from which cores have almost equally many, and how many times as large as an image filters are so
large that no core is to read all of them, by the width of vectors: where that is 64, caches are larger, too."""
FEW_FEATURE_BLOCKS = 3
"""Blocks of features that are not shared where windows are two tiles, though these are fewer: each core would gather
all windows, and two cores have not the same number of blocks."""
FEW_WINDOWS, FEW_VECTORS = 4, 2
"""Of few windows, those whose sums are computed side by side, and the vectors of features by which they are."""
BLOCKS_TOGETHER = 2
"""Blocks of features after which the windows left behind the last tile go by all of them: so their filters are near."""
DENSE_PRODUCTS = 12
"""Products for each of which an element more may be copied."""
LEAST_HEIGHT = 8
"""Features of a block from which the last windows go by one vector: so many sums do not wait for each other."""
NEAR_PATCHES = 1 << 19
"""Bytes of transformed patches that stay near while blocks of features go by."""
PLANE_ROWS = 4
"""Rows of windows of a plane that are computed side by side."""
