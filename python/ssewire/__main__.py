"""``python -m ssewire``: the command line."""

import sys

from ssewire.cli import main

if __name__ == "__main__":
    sys.exit(main())
