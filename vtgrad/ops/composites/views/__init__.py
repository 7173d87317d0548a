"""Views under their public names."""
