"""Numbers of rows at which the automatic learners change what they do: few rows tell little."""

from __future__ import annotations

# With at most this many rows maps are fitted anew for each fold, and good trials are averaged.
FEW = 2000
# With at most this many rows trials are judged three times: a single split into folds is noise.
SCARCE = 200
# With at most this many rows only the penalties are tuned, by 10-fold cross-validation: five folds
# would leave too few training rows. The errors of two trials differ by a row or two there. The
# trial with fewer errors in cross-validation is then likely to make more errors on new rows.
FEWEST = 100
# The number of trials that are averaged on few rows, where the best trial is best by chance.
AVERAGED = 6
# The number of maps that are tried with all learners: the maps that suit the first learner best.
GOOD_MAPS = 3
# Ranks of Nyström maps, as long as the data have more rows.
WIDTHS = (25, 100, 300)
# With at most this many rows a map on all rows is tried too.
WHOLE = 1500
# From this many rows on, random Fourier features are tried too.
MANY = 5000
# Rates of exp(−γ D) and exp(−γ D²), for dissimilarities of median 1. With at most `ONE_RATE` rows,
# which cannot tell many maps apart, only the first rate is tried.
RATES, ONE_RATE = (1.0, 3.0), 200
# The number of objects from which the median dissimilarity is estimated.
SAMPLED = 300
# The number of rows whose kernel values show whether the kernel says anything.
N_JUDGED = 100
# The number of new rows that are predicted at a time, so that all models use the same kernel
# values.
AT_ONCE = 256
# On a table, all rows are landmarks with at most this many rows.
EXACT = 3400
# Widths of maps of a table with more rows: the widest one that fits the budget is used.
WIDE = (100, 300, 1000, 2000, 2800)
# The width of the widest map of a kernel that is given, on many rows of numbers.
GIVEN = 1000
# The width of the map that margin machines use on a table.
MARGIN = 1000
# On a table with more rows than this, margin machines are first compared with ridge on this many
# rows.
SCREENED = 400
# The number of operations of all trials together that a fit may cost, about a minute of one core.
OPERATIONS = 2e12
