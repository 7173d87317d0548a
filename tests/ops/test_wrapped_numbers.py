"""A 0-d tensor that stands for a Python number promotes like the number."""

import vtgrad as vt


def test_a_wrapped_number_weighs_less_than_a_0d_tensor() -> None:
    x = vt.tensor(3.0, dtype=vt.float32)
    two = vt.tensor(2.0, dtype=vt.float64)
    assert (x * two).dtype is vt.float64
    two._impl.is_wrapped_number = True
    assert (x * two).dtype is vt.float32
    assert (x * two).item() == 6.0
    assert x.mul_(two).dtype is vt.float32


def test_an_integer_out_of_range_wraps_around_when_it_is_divided() -> None:
    assert (-1 // vt.tensor([1, 2, 3], dtype=vt.uint8)).tolist() == [255, 127, 85]
    assert (2**40 // vt.tensor([7], dtype=vt.int32)).tolist() == [0]
