"""What users of notebooks and of IPython expect: pretty-printed values, ``In`` and ``Out``, ``%time`` and ``%timeit``."""
