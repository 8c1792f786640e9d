"""Constants that are not computed until somebody reads them, and then block by block."""
