"""Tests of the benchmarks: their programs, their arithmetic and their table."""
