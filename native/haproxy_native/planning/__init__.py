"""Plan how the running process gets from one document to another: by runtime commands, or by a reload, with the reasons."""
