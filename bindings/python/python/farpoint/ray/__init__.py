"""farpoint on a cluster of Ray. Needs ``pip install 'farpoint[ray]'``; nothing of ``farpoint`` imports it."""

from .cloud import sample
from .files import sample_files
from .result import CloudSample

__all__ = ["CloudSample", "sample", "sample_files"]
