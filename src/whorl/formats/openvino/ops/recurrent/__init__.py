"""LSTM, GRU and RNN: cells, sequences, and the loop over cells where OpenVINO's sequence means something else."""
