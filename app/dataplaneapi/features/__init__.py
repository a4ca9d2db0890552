"""The parts of the server that can be removed: each is a folder here, with a subclass of `api.feature.Feature` in `feature.py`.

What of a feature is not HTTP stands in a folder of the same name in haproxy_native/features. Nothing outside imports a feature:
`dataplaneapi.feature_list` names them.
"""
