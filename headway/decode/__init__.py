"""Use a trained model: greedy decoding, beam search and sampling, for every model that can step."""
