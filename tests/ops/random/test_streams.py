"""Draws from streams: what NumPy's generator gives in the same state, and the state in which that leaves it."""

import numpy as np
import pytest

from whorl.ops.random.seeds import SEEDS
from whorl.ops.random.streams import STREAM, DrawClasses, DrawNormal, DrawUniform, NewStream, generator_at, stream_of


def test_stream_is_where_the_generator_stands():
    generator = np.random.RandomState(5)
    generator.standard_normal(7)
    stream = stream_of(generator)
    assert (stream.dtype, stream.shape) == (STREAM.dtype, STREAM.shape)
    assert generator_at(stream).standard_normal(9).tolist() == generator.standard_normal(9).tolist()


@pytest.mark.parametrize(("op", "name"), [(DrawUniform(), "random_sample"), (DrawNormal(), "standard_normal")])
def test_draws_go_on_where_the_last_one_ended(op, name):
    generator = np.random.RandomState(3)
    stream = stream_of(generator)
    for shape in ((2, 3), (3,), (), (0, 4)):
        numbers, stream = op.run(stream, np.array(shape, np.int64))
        assert numbers.shape == shape
        np.testing.assert_array_equal(numbers, getattr(generator, name)(shape))


def test_class_without_probability_is_not_drawn():
    drawn, stream = DrawClasses(np.dtype(np.int32), 50).run(
        stream_of(np.random.RandomState(0)), np.array([[0.0, -np.inf, 1.0]])
    )
    assert set(drawn[0].tolist()) == {0, 2} and drawn.dtype == np.int32
    assert stream[624] == 100


def test_new_stream_begins_by_chance_or_at_the_next_seed():
    first, second = NewStream().run(), NewStream().run()
    assert first[624] == 624 and not np.array_equal(first, second)
    SEEDS.start(7)
    expected = SEEDS.following()
    SEEDS.start(7)
    np.testing.assert_array_equal(NewStream().run(), stream_of(np.random.RandomState(expected)))
    SEEDS._source = None
