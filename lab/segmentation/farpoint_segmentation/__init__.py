"""Semantic segmentation of point clouds: networks, data sets, samplers and how they are evaluated.

``python -m farpoint_segmentation evaluate | train | time | report | generate`` is the command line. Needs PyTorch;
``pip install ./lab/segmentation`` in a clone of farpoint brings it.
"""
