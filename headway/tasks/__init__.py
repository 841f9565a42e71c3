"""Choose: what a batch is, what the loss is, which figures count."""
