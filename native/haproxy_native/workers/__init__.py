"""The processes of one HAProxy: the worker in service and those that reloads have replaced, as long as their connections last."""
