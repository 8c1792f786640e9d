"""Elements that move: axes, shapes, slices, padding, gathering, scattering, selecting, filling."""
