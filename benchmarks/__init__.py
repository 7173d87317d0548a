"""Speed, side by side with PyTorch, HIPS autograd, MyGrad and NumPy: ``make bench``."""
