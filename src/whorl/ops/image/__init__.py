"""Images: resizing, sampling at coordinates, regions of interest, boxes, decoding files."""
