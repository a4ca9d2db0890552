"""The stream of events as an operation: changes, reloads, states and counters."""
