"""What a model without loops is for: runtimes as data (`targets`), and what a model takes there (`costs`)."""
