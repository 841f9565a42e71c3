"""How a layer is joined to the one before: where the norm stands around a sublayer F, and how x passes beside it."""
