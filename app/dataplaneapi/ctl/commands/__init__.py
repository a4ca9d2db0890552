"""The commands of `dataplaneapi ctl`: the arguments of each, and the function that runs it."""
