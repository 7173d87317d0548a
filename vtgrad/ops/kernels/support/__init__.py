"""What the kernels of several families share; no operator is defined here."""
