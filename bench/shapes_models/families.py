"""All families by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from shapes_models.attention import attention
from shapes_models.decoder import decoder
from shapes_models.detection import detection
from shapes_models.family import Family
from shapes_models.knn import knn
from shapes_models.mamba import mamba
from shapes_models.phi import phi
from shapes_models.recurrent import recurrent

FAMILIES: dict[str, Callable[[], Family]] = {
    "mamba-8": partial(mamba, 8),
    "mamba-30": partial(mamba, 30),
    "decoder": decoder,
    "phi": phi,
    "attention": attention,
    "lstm": partial(recurrent, "lstm", "LSTM"),
    "gru": partial(recurrent, "gru", "GRU"),
    "bi-lstm": partial(recurrent, "bi-lstm", "LSTM", 2),
    "knn": knn,
    "detection": detection,
}
