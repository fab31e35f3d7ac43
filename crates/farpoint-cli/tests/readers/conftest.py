"""Files that are made once: inputs, and what the command makes of them."""

import numpy as np
import pytest

import command
import inputs
import readers
from truth import Truth


class Made:
    """Inputs by name, and outputs by name and extension."""

    def __init__(self, folder):
        self.folder = folder
        self.inputs = {}
        self.outputs = {}

    def input(self, name):
        if name not in self.inputs:
            self.inputs[name] = inputs.INPUTS[name](self.folder)
        return self.inputs[name]

    def output(self, name, extension, *options):
        """The input, the rows in the order of the output, what is read of that, and the run."""
        key = name, extension, options
        if key not in self.outputs:
            source = self.input(name)
            target = str(self.folder / f"{len(self.outputs)}-{name}.{extension}")
            rows, done = command.convert(source.file, target, *options)
            assert sorted(rows) == list(range(len(source.truth.xyz)))
            self.outputs[key] = source, rows, readers.read(target), done, target
        return self.outputs[key]


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("clouds"))


def in_order(truth, rows):
    """The truth of the chosen rows."""

    def chosen(value):
        if isinstance(value, np.ndarray) and len(value) == len(truth.xyz):
            return value[rows]
        return value

    values = {name: chosen(value) for name, value in vars(truth).items()}
    values["others"] = {name: chosen(value) for name, value in truth.others.items()}
    return Truth(**values)
