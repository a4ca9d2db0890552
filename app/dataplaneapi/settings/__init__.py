"""Every setting, where its value comes from, and how the settings file is read and edited."""
