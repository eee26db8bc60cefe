package sandbox

import (
	"io"
	"os"
	"slices"
)

// authoritiesFile is the file with the certificates of this host's authorities, in the sandbox of a command that may
// fetch something.
const authoritiesFile = HomeDir + "/.authorities.pem"

// authorityVariables name a file of authorities to programs that don't read the system's, or not at the place where
// this host has it: Node, pip, Python's requests, OpenSSL and rustls, git, curl and Cargo. A company that inspects TLS
// has its own authority, without which they can't fetch anything.
var authorityVariables = []string{"NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE",
	"GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "CARGO_HTTP_CAINFO"}

// systemAuthorities are the places of the system's authorities; the first that exists counts, as in crypto/x509.
var systemAuthorities = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"}

// maxAuthorities is the maximum size of a file of authorities, in bytes. Larger ones are left out.
const maxAuthorities = 8 << 20

// authorities returns the certificates that this host trusts: the system's, and those of SSL_CERT_FILE; nil: none.
func (s *Sandbox) authorities() (all []byte) {
	if own, _ := LookupEnv(s.options.Env, "SSL_CERT_FILE"); !slices.Contains(systemAuthorities, own) {
		if all = readAuthorities(own); all != nil {
			all = append(all, '\n')
		}
	}
	for _, name := range systemAuthorities {
		if text := readAuthorities(name); text != nil {
			return append(all, text...)
		}
	}
	return all
}

// readAuthorities reads a file of authorities; nil: it can't be read, or is too large.
func readAuthorities(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxAuthorities+1))
	if err != nil || len(text) > maxAuthorities {
		return nil
	}
	return text
}
