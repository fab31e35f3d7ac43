"""Semantic segmentation of point clouds: networks, data sets, samplers and how they are evaluated.

``python -m farpoint.segmentation evaluate | train | time | report`` is the command line. Needs PyTorch:
``pip install "farpoint[segmentation]"``.
"""
