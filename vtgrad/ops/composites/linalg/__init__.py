"""Products of matrices of every rank, and sums over labelled dimensions."""
