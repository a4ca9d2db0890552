"""Read, write and edit lines and sections word by word, by the declared grammar of the configuration."""
