"""What was changed of servers in the process alone, kept over reloads."""
