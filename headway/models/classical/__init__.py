"""The models before networks, small and exact, with the manners of scikit-learn: `fit`, `predict`, `score`, attributes that end in `_`."""
