"""Members of servers that were changed in the process alone, and that stay over reloads and restarts of HAProxy until they are removed."""
