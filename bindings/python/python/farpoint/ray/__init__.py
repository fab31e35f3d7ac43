"""farpoint on a cluster of Ray. Needs ``pip install 'farpoint[ray]'``; nothing of ``farpoint`` imports it."""

from .cloud import sample
from .files import sample_files

__all__ = ["sample", "sample_files"]
