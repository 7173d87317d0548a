"""Tests of the views layer."""
