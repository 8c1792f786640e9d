"""Native forms that many families share: index arithmetic on views, and lengths that only the run knows."""
