from vtgrad.numpy.ndarray import ndarray as ndarray
