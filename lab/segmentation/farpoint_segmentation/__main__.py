"""Command line: ``python -m farpoint_segmentation evaluate | train | time | report | generate``."""

from __future__ import annotations

import sys

from .commands import main

sys.exit(main())
