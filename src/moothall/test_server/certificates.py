"""Certificates of the proxy for tests: an authority of its own, valid for the platform's public names only."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from moothall.objects.clock import file_time

DOMAINS: Final = ("discord.com", "discord.gg", "discordapp.com", "discordapp.net")
"""Domains that the proxy answers for, with every name one level below them."""
_VALID: Final = timedelta(days=7)
_EARLIER: Final = timedelta(hours=1)
"""For machines whose clocks differ."""


class Certificates(NamedTuple):
    """Files of one run of the proxy."""

    authority: Path
    """The authority's certificate, in PEM."""
    bundle: Path
    """The same, after the authorities that this machine trusts: a file in the place of those."""
    context: ssl.SSLContext
    """Of a server with every name of `DOMAINS`."""


def make_certificates(folder: Path) -> Certificates:
    """Make an authority and the server's certificate. The authority's key is never stored and signs nothing else."""
    now = datetime.fromtimestamp(file_time(), UTC)  # clients go by the system's clock, which tests do not advance
    key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Moothall, for tests on this machine")])
    authority = (
        _builder(name, name, key.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.NameConstraints([x509.DNSName(each) for each in DOMAINS], None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    names = [x509.DNSName(pattern) for each in DOMAINS for pattern in (each, f"*.{each}")]
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, DOMAINS[0])])
    certificate = (
        _builder(subject, name, server_key.public_key(), now)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    chain = folder / "server.pem"
    chain.touch(0o600)
    private = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(chain)
    chain.unlink()
    own, bundle = folder / "authority.pem", folder / "authorities.pem"
    own.write_bytes(authority.public_bytes(Encoding.PEM))
    bundle.write_bytes(_trusted() + own.read_bytes())
    return Certificates(own, bundle, context)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - _EARLIER).not_valid_after(now + _VALID)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _trusted() -> bytes:
    """The authorities that this machine trusts, in PEM; empty if they are not in one file."""
    path = Path(ssl.get_default_verify_paths().cafile or "")
    return path.read_bytes() + b"\n" if path.is_file() else b""
