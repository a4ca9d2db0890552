"""One stream of numbered events for any number of readers: changes, reloads, workers, states of servers, counters."""
