"""From what users pass to what kernels take: arguments, numbers, and errors that explain."""
