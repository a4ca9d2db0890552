"""The declared language of the configuration: read, write and edit lines and sections word by word. Pure."""
