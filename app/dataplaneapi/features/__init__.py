"""The parts of the server that can be removed, each a folder here.

A feature has operations (`handlers.py`), and may have a subclass of `api.feature.Feature` in `feature.py` if something else of it takes
part in the server. What is not HTTP is in a folder of the same name in haproxy_native/features. Nothing outside imports a feature;
`dataplaneapi.feature_list` names them.
"""
