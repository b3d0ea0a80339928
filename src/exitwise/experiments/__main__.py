"""`python -m exitwise.experiments EXPERIMENTS PAGE` writes the page of all results."""

from exitwise.experiments.documentation import main

main()
