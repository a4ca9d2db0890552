"""The stream of events: changes, reloads, states and counters."""
