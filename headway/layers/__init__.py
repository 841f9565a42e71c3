"""The parts: mixers (attention, recurrence), positions, norms, feed-forward, embedding, residuals."""
