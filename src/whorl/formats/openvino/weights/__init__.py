"""The `.bin` file: `read` maps the constants into memory, `stored_types` decodes the element types that NumPy lacks,
`write` appends constants, equal ones once."""
