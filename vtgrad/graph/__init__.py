"""The graph: nodes, edges, leaves, saved variables and hooks. Knows nothing of views."""
