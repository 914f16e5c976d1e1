"""Examples inside the wheel: the tour that ``krein quickstart`` runs.

`data` loads the digits, `run` compares the kernels, `results` holds the figures, and `sentences`,
`table` and `plot` show them. Scripts that stand alone are in the folder `examples` of the
repository.
"""
