"""What several families of composites use, and functions for formulas only."""
