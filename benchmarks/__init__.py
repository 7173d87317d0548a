"""Speed, side by side with PyTorch in one run: ``make bench``."""
