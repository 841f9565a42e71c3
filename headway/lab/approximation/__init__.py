"""Universal approximation by construction"""
