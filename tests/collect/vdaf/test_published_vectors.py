"""The drafts' own test vectors, byte by byte, where they are to be had: a folder ``vdaf`` in that of DPHEATMAP_DATA."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpheatmap.collect.vdaf.l1_bound import L1BoundSum
from dpheatmap.collect.vdaf.linear_proof import BadProof
from dpheatmap.collect.vdaf.prime_field import FIELD64, FIELD128
from dpheatmap.collect.vdaf.prio3 import Prio3, VerifyState
from dpheatmap.collect.vdaf.residues import Residues
from dpheatmap.collect.vdaf.xof import derive_seed, expand
from dpheatmap.experiments import stand_in_data
from helpers.vdaf_circuits import Count, Histogram, Sum, SumVec

NAMES = """
    Prio3Count_0 Prio3Count_1 Prio3Count_2 Prio3Count_bad_gadget_poly Prio3Count_bad_helper_seed
    Prio3Count_bad_meas_share Prio3Count_bad_wire_seed Prio3Sum_0 Prio3Sum_1 Prio3Sum_2 Prio3SumVec_0 Prio3SumVec_1
    Prio3SumVecWithMultiproof_0 Prio3SumVecWithMultiproof_1 Prio3Histogram_0 Prio3Histogram_1 Prio3Histogram_2
    Prio3Histogram_bad_helper_jr_blind Prio3Histogram_bad_leader_jr_blind Prio3Histogram_bad_public_share
    Prio3Histogram_bad_verifier_message Prio3L1BoundSum_0
"""


def vector(name: str) -> dict[str, Any]:
    folder = stand_in_data.folder()
    path = None if folder is None else Path(folder) / "vdaf" / f"{name}.json"
    if path is None or not path.exists():
        pytest.skip(f"needs vdaf/{name}.json of the VDAF drafts: set DPHEATMAP_DATA to the folder that holds it")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def prio3_of(name: str, given: dict[str, Any]) -> Prio3:
    servers, context = given["shares"], bytes.fromhex(given["ctx"])
    match name.split("_")[0]:
        case "Prio3Count":
            return Prio3(Count(FIELD64), servers, 1, context)
        case "Prio3Sum":
            return Prio3(Sum(FIELD64, given["max_measurement"]), servers, 2, context)
        case "Prio3SumVec":
            circuit = SumVec(FIELD128, given["length"], given["max_measurement"], given["chunk_length"])
            return Prio3(circuit, servers, 3, context)
        case "Prio3SumVecWithMultiproof":
            circuit = SumVec(FIELD64, given["length"], given["max_measurement"], given["chunk_length"])
            return Prio3(circuit, servers, 0xFFFFFFFF, context, proofs=3)
        case "Prio3Histogram":
            return Prio3(Histogram(FIELD128, given["length"], given["chunk_length"]), servers, 4, context)
        case _:
            bound = L1BoundSum(FIELD128, given["length"], given["max_value"], given["chunk_length"])
            return Prio3(bound, servers, 7, context)


class Run:
    """The operations of a vector, each of which takes its messages from there and is compared with them."""

    def __init__(self, name: str) -> None:
        self.given = vector(name)
        self.prio3 = prio3_of(name, self.given)
        self.states: dict[tuple[int, int], VerifyState] = {}
        self.outputs: dict[tuple[int, int], Residues] = {}

    def shard(self, report: int) -> None:
        given = self.given["reports"][report]
        measurement = np.array(given["measurement"]) if isinstance(given["measurement"], list) else given["measurement"]
        public, shares = self.prio3.shard(measurement, bytes.fromhex(given["nonce"]), bytes.fromhex(given["rand"]))
        assert public.hex() == given["public_share"]
        assert [share.hex() for share in shares] == given["input_shares"]
        assert [len(share) for share in shares] == [self.prio3.share_size(n) for n in range(self.prio3.servers)]

    def verify_init(self, report: int, server: int) -> None:
        given = self.given["reports"][report]
        nonce, public, share = (
            bytes.fromhex(text) for text in (given["nonce"], given["public_share"], given["input_shares"][server])
        )
        key = bytes.fromhex(self.given["verify_key"])
        self.states[report, server], told = self.prio3.verify_init(key, server, nonce, public, share)
        assert told.hex() == given["verifier_shares"][0][server]

    def verifier_shares_to_message(self, report: int) -> None:
        given = self.given["reports"][report]
        told = [bytes.fromhex(text) for text in given["verifier_shares"][0]]
        assert self.prio3.verifier_shares_to_message(told).hex() == given["verifier_messages"][0]

    def verify_next(self, report: int, server: int) -> None:
        given = self.given["reports"][report]
        message = bytes.fromhex(given["verifier_messages"][0])
        self.outputs[report, server] = self.prio3.verify_next(self.states[report, server], message)
        assert self.prio3.field.encode(self.outputs[report, server]).hex() == given["out_shares"][server]

    def aggregate(self, server: int) -> None:
        outputs = [output for (_, number), output in self.outputs.items() if number == server]
        found = self.prio3.field.encode(self.prio3.sum_shares(outputs)).hex()
        assert found == self.given["agg_shares"][server]

    def unshard(self) -> None:
        shares = [self.prio3.field.decode(bytes.fromhex(text)) for text in self.given["agg_shares"]]
        total = self.prio3.field.signed_integers(self.prio3.sum_shares(shares)).tolist()
        assert total == np.atleast_1d(self.given["agg_result"]).tolist()


@pytest.mark.parametrize("name", NAMES.split())
def test_prio3_is_the_drafts(name: str) -> None:
    run = Run(name)
    for given in run.given["operations"]:
        operation = getattr(run, given["operation"])
        arguments = [given[key] for key in ("report_index", "aggregator_id") if key in given]
        if given["success"]:
            operation(*arguments)
        else:
            with pytest.raises(BadProof):
                operation(*arguments)


def test_seeds_and_elements_are_the_drafts() -> None:
    given = vector("XofTurboShake128")
    seed, tag, binder = (bytes.fromhex(given[name]) for name in ("seed", "dst", "binder"))
    assert derive_seed(seed, tag, binder).hex() == given["derived_seed"]
    elements = expand(FIELD128, seed, tag, binder, given["length"])
    assert FIELD128.encode(elements).hex() == given["expanded_vec_field128"]
