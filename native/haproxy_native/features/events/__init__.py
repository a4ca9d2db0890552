"""What happens, as one stream of numbered events: changes, reloads, workers, states of servers and counters, for any number of readers."""
