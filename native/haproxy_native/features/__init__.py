"""Removable features: each folder has the logic of one feature, and no module of the core imports it.

A feature takes part in commits, reloads and renames through the ports of the core (`commit.ports.Observer`, `commit.events.Events`,
`references.naming.Follower`). `dataplaneapi.features` has the list of features and their HTTP handlers.
"""
