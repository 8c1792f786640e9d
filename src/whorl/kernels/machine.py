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

# ---- convolutions --------------------------------------------------------------------------------------------

FILTER_BLOCK = 12
"""Most features whose sums are computed side by side."""
OVERREAD_BYTES = 512
"""Most bytes of windows that are computed side by side: so far beyond its last window an image may be read."""
CHANNEL_STEP = 16
"""Channels lie an odd multiple of so many elements apart, so that equal positions of them share no set of a cache."""
MAX_TAPS, MAX_ELEMENTS = 1 << 20, 1 << 31
"""Taps of a window, and elements of an image, that tables of int32 describe."""
