"""The loop-nest program between tensors and the machine: buffers, loops, loads, stores and scalar expressions.

Rooms: `program` is the data and its text, `verify` its rules, `interpret` its slow meaning, which checks more than
machine code can. `optimise` lists the steps from a program to a faster one of the same meaning, one file
a step. `spread` says what several cores may share, `row_loops` which loops over time they may share by rows.
`outline` says which nests become functions of their own, `canonical` which of them are equal. `ownership` is
the rule for memory that is written in place, `polls` lets a long program be stopped, `kernels` names the whole-array
routines that a program may call.
"""
