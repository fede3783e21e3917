"""Releases with Gaussian noise: is one of them rho-zCDP? It rests on the core, and on the three modules here."""
