"""
Parts
=====

x
"""
print(1)
