"""The command ``farpoint``, as ``python -m farpoint`` and as the script that is installed with the package."""

from __future__ import annotations

import sys

from . import _native


def main() -> int:
    """Runs the command with the arguments of the process; returns its exit status."""
    return _native.run_command([sys.executable, "-m", "farpoint"], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
