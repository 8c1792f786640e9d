"""What the native form of an op is made of, so that ops can be lowered without knowing a compiler.

`expressions` are the scalars that programs compute and the buffers they read, `view` the tensors that ops see while
they are lowered, `builder` the protocol of what writes statements for them.
"""
