"""Matrix products, attention, and quantization."""
