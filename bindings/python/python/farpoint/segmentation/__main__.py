"""The command line: ``python -m farpoint.segmentation evaluate | train | time | report``."""

from __future__ import annotations

import sys

from .commands import main

sys.exit(main())
