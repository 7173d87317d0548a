"""Tests of the graph layer."""
