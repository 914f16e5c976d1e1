"""Examples inside the wheel: the tour that ``krein quickstart`` runs.

`tasks` makes four tasks, and `contest` compares krein with other methods on each of them. `data`
loads the digits, and `run` runs the tasks and compares features of three kernels. `results` holds
the figures, and `sentences`, `table` and `plot` show them. Scripts that stand alone are in the
folder `examples` of the repository.
"""
