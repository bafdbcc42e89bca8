"""Incremental potential contact: at this point its elastic part."""
