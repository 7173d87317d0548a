"""The graph: nodes, edges, leaves, saved variables and hooks. Independent of views."""
