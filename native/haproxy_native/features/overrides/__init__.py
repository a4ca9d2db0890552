"""What of servers was changed in the process alone, kept over reloads and restarts of HAProxy until it is taken back."""
