"""The engine: runs a recorded graph backward."""
