"""Semantic segmentation of point clouds: networks, datasets, samplers and evaluation.

``python -m farpoint_segmentation evaluate | train | time | report | generate`` is the command line. Requires PyTorch;
``pip install ./lab/segmentation`` in a clone of farpoint installs it.
"""
