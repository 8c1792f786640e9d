"""`python -m whorl`."""

import sys

from whorl.cli import main

sys.exit(main())
