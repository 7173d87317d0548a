"""Forward mode: how operators carry tangents."""
