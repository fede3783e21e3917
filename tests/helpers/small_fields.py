"""Prime fields so small that all their numbers can be tried."""

from __future__ import annotations

from dpheatmap.collect.vdaf.prime_field import PrimeField

FIELD5 = PrimeField(5, 2, 2)
FIELD13 = PrimeField(13, 8, 2)
FIELD17 = PrimeField(17, 3, 4)
FIELD97 = PrimeField(97, 28, 5)
SMALL = (FIELD5, FIELD13, FIELD17, FIELD97)
