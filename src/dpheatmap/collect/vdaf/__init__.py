"""Contributions that prove their bound: Prio3 with the L1-bounded vector sum of the IETF's drafts.

From the ground up: `residues` and `prime_field` compute modulo a prime, `turboshake` and `xof` make random elements,
`circuit` and `l1_bound` say what is proved, `linear_proof` proves it, `prio3` shares it out, `soundness` says how sure
one can be, and `bounded_sum` is what collections use. The folder needs nothing of the rest of the package but errors
and compiled kernels.

Nothing in it takes the same time for all values: whoever can measure a device or a server closely is out of scope.
"""
