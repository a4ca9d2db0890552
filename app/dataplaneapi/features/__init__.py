"""The optional parts of the server. Each is a folder here and can be removed.

A feature has operations in `handlers.py`. If it does more, such as background work or options of writes, `feature.py` has a subclass of
`api.feature.Feature`. The feature's code without HTTP is in the folder of the same name in haproxy_native/features. Only
`dataplaneapi.feature_list` names the features: no other code outside a feature imports it.
"""
