"""Arrays in a block of bytes, and back."""

import base64
import json
import struct
import zlib

import numpy as np

from whorl.api.exploring.packing import KINDS, Packer


def unpack(text: str):
    """The document and a reader of its arrays."""
    data = zlib.decompress(base64.b64decode(text))
    (length,) = struct.unpack("<I", data[:4])

    def read(reference):
        kind, begin, count = reference
        dtype = np.dtype(f"<{kind}")
        planes = np.frombuffer(data, np.uint8, count * dtype.itemsize, 4 + length + begin)
        return planes.reshape(dtype.itemsize, count).T.copy().view(dtype).reshape(-1)

    return json.loads(data[4 : 4 + length]), read


def test_arrays_of_every_kind_come_back() -> None:
    packer = Packer()
    arrays = [np.array([[1, 2], [250, 4]]).astype(name) for name in KINDS]
    document, read = unpack(packer.seal({"all": [packer.add(array) for array in arrays]}))
    for reference, array in zip(document["all"], arrays, strict=True):
        np.testing.assert_array_equal(read(reference), array.reshape(-1))


def test_nan_and_infinity_come_back() -> None:
    packer = Packer()
    array = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)
    document, read = unpack(packer.seal(packer.add(array)))
    assert read(document).tobytes() == array.tobytes()


def test_smooth_curves_take_less_than_their_bytes() -> None:
    packer = Packer()
    reference = packer.add(np.sin(np.linspace(0, 20, 10_000)).astype(np.float32))
    assert len(packer.seal(reference)) < 10_000 * 4
