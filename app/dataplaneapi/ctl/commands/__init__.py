"""The commands of `dataplaneapi ctl`: for each command, its arguments and the function that runs it."""
