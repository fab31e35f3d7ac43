"""Input files, written by software that is not ours or by hand, each with what it holds."""

import inputs_arrays
import inputs_scans
import inputs_texts
from sources import INPUTS

MODULES = [inputs_arrays, inputs_scans, inputs_texts]
assert len(INPUTS) > 20, "importing a module adds its files"
