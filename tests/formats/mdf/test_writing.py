"""Documents as plain data: what is read is written again."""

from formats.mdf.test_files import FULL

from whorl.formats.mdf.reading import model_of
from whorl.formats.mdf.writing import data_of


def test_reading_and_writing_changes_nothing():
    assert data_of(model_of(FULL)) == FULL
