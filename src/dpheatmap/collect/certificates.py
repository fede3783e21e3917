"""TLS certificates for processes on this machine, for demos and tests, by an authority that is valid for an hour."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from dpheatmap.errors import MissingDependency

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID
except ImportError as error:
    raise MissingDependency("cryptography", "Collecting", "collect") from error


class Certificates(NamedTuple):
    """Files: the authority that clients trust, and a certificate of this machine with its key."""

    authority: Path
    certificate: Path
    key: Path


def make_certificates(folder: Path, name: str = "127.0.0.1") -> Certificates:
    """Make a certificate of this machine, by its address or name, signed by an authority whose key is thrown away."""
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer, subject = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)]) for common in ("dpheatmap demo", name)
    )
    usage = dict.fromkeys(("content_commitment", "data_encipherment", "encipher_only", "decipher_only"), False)
    rest = {"key_encipherment": False, "key_agreement": False, **usage}
    signing = x509.KeyUsage(digital_signature=True, key_cert_sign=True, crl_sign=True, **rest)
    serving = x509.KeyUsage(digital_signature=True, key_cert_sign=False, crl_sign=False, **rest)
    here = x509.SubjectAlternativeName([_general_name(name)])
    known = x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())
    issued_by = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(known)
    authority = (
        _draft(issuer, issuer, authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(signing, critical=True)
        .add_extension(known, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    certificate = (
        _draft(subject, issuer, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(serving, critical=True)
        .add_extension(here, critical=False)
        .add_extension(issued_by, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    made = Certificates(folder / "authority.pem", folder / "certificate.pem", folder / "certificate.key")
    made.authority.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    made.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    made.key.touch(0o600)
    made.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return made


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _draft(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
    )
