"""`python -m headway ...` is the command `headway ...`."""

import sys

from headway.cli import main

sys.exit(main())
