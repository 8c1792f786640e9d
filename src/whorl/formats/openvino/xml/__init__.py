"""The `.xml` file: `tree` parses it in bounded memory and refuses attacks, `read` makes a `document.Net` of the
elements, `write` makes text of a `Net`."""
