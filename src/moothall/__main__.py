"""`python -m moothall`: the command line."""

from moothall.cli import main

main()
