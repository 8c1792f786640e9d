"""RNN, GRU and LSTM, and their decomposition into a Loop."""
