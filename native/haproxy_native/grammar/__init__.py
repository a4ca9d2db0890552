"""The declared language of the configuration: lines and sections read, written and edited word by word. Pure."""
