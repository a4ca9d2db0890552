"""Define all settings, combine them from their sources, and read and edit the settings file."""
