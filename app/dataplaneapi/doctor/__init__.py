"""What would keep an installation from working, and how to repair it."""
