"""Rules by which operators are called for a batch; see Note [Batching rules]."""
