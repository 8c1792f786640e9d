"""The generator gives the published words."""

import pytest

from whorl.mdf.random.philox import WORD, OnArrays, philox

VECTORS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD, WORD), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
"""Counter, key and result. Source: the known answers of Random123."""


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_generator_gives_the_published_words(counter, key, expected):
    k = OnArrays()
    words = philox(k, [k.number(word) for word in counter], [k.number(word) for word in key])
    assert tuple(map(int, words)) == expected
