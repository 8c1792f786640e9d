"""The algebra of constants as rules, one family a file."""
