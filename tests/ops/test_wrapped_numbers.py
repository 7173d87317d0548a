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
