"""From regions of the IR to kernel programs: fusion, memory plan, carried values, nested loops and branches.

`graphs` lowers a region with its loops and branches, for a compiled subgraph or a library; `loops` lowers one long
Loop, which the runtime runs in slices. Both type a copy for the shapes at hand, prepare it (`layout`), write its nodes
as loop nests (`regions`, with the builder `k` of `builder`, `statements` and `expressions`) and hand the program to
`kernel.optimise`.

- One code path for all lengths: a shape holds numbers and the dims that inference gives (`a.0+1`), and the builder
  knows what each name is at run time. An op says with `any_length` that its native form takes dims. Where inference
  cannot prove that two lengths agree, the program checks it and fails, and the interpreter finds the error.
- Composite ops are decomposed (`decomposition`), so one meaning has one native form: RNN, GRU and LSTM are one product
  of the whole sequence and a Loop of simple ops; Attention is products, comparisons and a softmax; Einsum a chain of
  products; products of bytes are products of floats that hold every sum exactly.
- Weights are packed once (`products`, `convolutions`), and loop-invariant packing and products of slices are hoisted
  out of loops (`inner_loops`), a product of concatenated tensors split for that (`split_concat_matmul`). Only where
  slices have few rows: with many, a product costs what its arithmetic costs.
- A sequence is the rows of one tensor (`sequences`), where its tensors differ in shape their elements and a table of
  shapes (`ragged`, rewritten by `tables`); a tensor that is split to be read is read where it lies.
- A string is a number (`strings`): ops that ask no more of strings than which are equal are ops on numbers.
- Elementwise values are fused into their readers; `readers` decides what is materialised.
- `ill_typed` sets aside nodes that their own types refuse: they are legal where they are never reached.
"""
