"""Record a program once, and replay what NumPy was asked to do."""
