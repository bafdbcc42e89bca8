"""Implementations of :class:`contactworks.common.engine.Engine`; found by name, see ``load``."""
