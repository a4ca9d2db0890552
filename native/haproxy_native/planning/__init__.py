"""Plans from one document to another in the running process: commands, or the reasons for a reload. Pure."""
