"""All settings and their sources, and the reading and editing of the settings file."""
