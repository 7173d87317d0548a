"""Tests of ``__torch_function__``: classes of users that take functions over."""
