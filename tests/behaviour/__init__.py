"""What a user can observe: views, in-place writes, versions, saved values, backward, hooks."""
