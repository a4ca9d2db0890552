"""The doctor finds problems of an installation, and how to repair them."""
