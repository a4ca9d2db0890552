"""The one way a change takes to the file and the process, and what is known of both."""
