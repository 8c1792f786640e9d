"""From loops of the IR to kernel programs: fusion, carried values, nested loops and branches."""
