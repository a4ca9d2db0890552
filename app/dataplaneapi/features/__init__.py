"""The optional parts of the server. Each is a folder here and can be removed.

A feature has operations in `handlers.py`. If it does more, such as background work or options of writes, `feature.py` has a subclass of
`api.feature.Feature`. Code without HTTP is in the folder of the same name in haproxy_native/features. No code outside imports a feature;
`dataplaneapi.feature_list` names them.
"""
