"""farpoint on a Ray cluster. Requires ``pip install 'farpoint[ray]'``; ``farpoint`` itself does not import it."""

from .cloud import sample
from .files import sample_files
from .result import CloudSample

__all__ = ["CloudSample", "sample", "sample_files"]
