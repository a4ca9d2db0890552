"""Find probable mistakes that HAProxy accepts, in the server's configuration or in files (`dataplaneapi lint`)."""
