"""What writing input files has in common: a list of them by name, and columns."""

from dataclasses import dataclass

import numpy as np

import truth
from truth import Truth

INPUTS = {}


@dataclass
class Input:
    name: str
    # The row of the matrix.
    row: str
    file: str
    truth: Truth
    # What is said of the file whatever the output is.
    says: tuple = ()


def an_input(row, extension, says=()):
    """Registers a function that writes a file and gives what is in it."""

    def register(write):
        name = write.__name__

        def make(folder):
            path = str(folder / f"{name}{extension}")
            return Input(name, row, path, write(path), says)

        INPUTS[name] = make
        return write

    return register


def record(columns):
    """A structured array of named columns."""
    array = np.empty(truth.POINTS, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        array[name] = column
    return array


def axes(xyz, kind):
    return {axis: xyz[:, i].astype(kind) for i, axis in enumerate("xyz")}


def three(names, array):
    return {name: array[:, i] for i, name in enumerate(names)}


def lines(path, rows, separator, head=""):
    with open(path, "w") as file:
        file.write(head)
        for row in rows:
            file.write(separator.join(row) + "\n")


def words(array, decimals):
    return [f"{value:.{decimals}f}" for value in array]


def words_of(xyz, decimals):
    return [words(xyz[:, i], decimals) for i in range(3)]
