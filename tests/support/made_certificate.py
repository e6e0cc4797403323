# made_certificate.py: a certificate for a test, made by the program openssl, and clients that trust it.
# SPDX-License-Identifier: MIT
"""Exits with 77 where there is no openssl; TANDEM_TEST_REQUIRE_ALL=1 asks for it."""
import os
import shutil
import ssl
import subprocess
import sys
import tempfile


class MadeCertificate:
    """`with MadeCertificate() as made:` made.file and made.key are PEM files, gone afterwards."""

    def __init__(self, name="localhost"):
        if not shutil.which("openssl"):
            print("skipped: there is no program openssl (Debian: apt-get install openssl)")
            sys.exit(1 if os.environ.get("TANDEM_TEST_REQUIRE_ALL") == "1" else 77)
        self.folder = tempfile.TemporaryDirectory()
        self.file, self.key = os.path.join(self.folder.name, "made.pem"), os.path.join(self.folder.name, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", self.key, "-out", self.file],
                       check=True, capture_output=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def client(self):
        """Trusts nobody else."""
        return ssl.create_default_context(cafile=self.file)

    def server(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context
