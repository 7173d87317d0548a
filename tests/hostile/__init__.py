"""Bad input and broken-off calls: a clear error, and everything as it was before."""
