"""Servers taken out of service without cutting anybody off: drained, watched until they are idle, then what was asked for."""
