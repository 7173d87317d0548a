"""Pictures of graphs and of memory."""
