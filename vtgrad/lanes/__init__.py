"""Lanes: devices of the host, whose nodes run on threads of their own."""
