"""From kernel programs to machine code through llvmlite."""
