"""Tests of `vtgrad.special`."""
