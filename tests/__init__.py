"""The tests of vtgrad; the folders mirror the layers of the package."""
