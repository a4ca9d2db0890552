"""One stream of numbered events for any number of subscribers: changes, reloads, workers, states of servers, counters."""
