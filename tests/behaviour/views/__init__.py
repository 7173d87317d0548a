"""Views, their bases and their nodes."""
