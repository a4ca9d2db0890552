"""The commands of `dataplaneapi ctl`: each declares its arguments and runs."""
