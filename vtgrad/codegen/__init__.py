"""Writes ``vtgrad/ops/generated`` from the derivative tables. Nothing imports this package."""
