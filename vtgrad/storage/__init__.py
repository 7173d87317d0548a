"""Memory: buffers, versions, geometry and element types. Independent of gradients."""
