"""Look inside: attention maps, alignments, pages and pictures of them."""
