"""The views of the history: entries, differences, blame, revert and restore. The core keeps the history itself."""
