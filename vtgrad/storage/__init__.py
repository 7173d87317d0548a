"""Memory: buffers, versions, geometry and element types. Knows nothing of gradients."""
