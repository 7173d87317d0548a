"""What a key of a tensor does with an operator where a row of the tables is not enough."""
