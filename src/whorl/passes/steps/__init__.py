"""Models that compute one step, and models that repeat it over a recording.

`repetition` makes a loop of a step, `extraction` a step of a loop; each undoes the other. A step takes what it carries
as inputs, gives it back as outputs, and sees one slice of what a loop scans.
"""
