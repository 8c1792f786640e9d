"""What a kernel costs unless its meaning says more."""

import pytest

from whorl.kernels.kernel import count_steps
from whorl.kernels.table import KERNELS


@pytest.mark.parametrize(("numbers", "steps"), [((), 1), ((3, 4), 12), ((3, 0, 4), 12)])
def test_steps_are_the_product_of_numbers_without_zeros(numbers, steps):
    assert count_steps(numbers) == steps


def test_table_names_each_kernel_by_its_own_name():
    assert all(name == kernel.name for name, kernel in KERNELS.items())
