"""`python -m whorl.cli`."""

import sys

from whorl.cli import main

sys.exit(main())
