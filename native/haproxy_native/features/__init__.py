"""What can be removed: each folder is the logic of one feature, and no module outside imports it.

A feature takes part in commits, reloads and renames through the ports of the core (`commit.ports.Observer`, `commit.events.Events`,
`references.naming.Follower`). The server lists its features, and what of them is HTTP, in `dataplaneapi.features`.
"""
