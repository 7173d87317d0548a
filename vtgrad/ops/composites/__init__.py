"""Operators made of other operators; they have no derivative of their own."""
