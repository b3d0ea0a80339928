"""`python -m exitwise.experiments RESULTS PAGE` writes the tables of a page from results."""

from exitwise.experiments.results import main

main()
