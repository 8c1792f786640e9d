"""Attention: scaled dot products, linear attention by a recurrent state, rotary positions."""
