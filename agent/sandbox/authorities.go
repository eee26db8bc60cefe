package sandbox

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Files with certificates of authorities, in the sandbox of a command that may fetch something.
const (
	authoritiesFile    = HomeDir + "/.authorities.pem"     // the system's and this host's own
	ownAuthoritiesFile = HomeDir + "/.own-authorities.pem" // this host's own
)

// authorityVariables name a file of authorities to programs that don't read the system's, or not everywhere: pip,
// Python's requests, OpenSSL and rustls, git, curl and Cargo.
var authorityVariables = []string{"PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE",
	"CARGO_HTTP_CAINFO"}

// nodeVariable names a file to Node, which adds it to its own authorities. A large one costs each start of Node time.
const nodeVariable = "NODE_EXTRA_CA_CERTS"

var (
	// systemAuthorities are the places of the system's authorities; the first counts, as in crypto/x509.
	systemAuthorities = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/ssl/ca-bundle.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem"}
	// addedAuthorities are the files from which update-ca-certificates and update-ca-trust add authorities.
	addedAuthorities = []string{"/usr/local/share/ca-certificates/*.crt", "/etc/pki/ca-trust/source/anchors/*"}
)

const (
	maxAuthorities    = 8 << 20   // maximum size of a file of authorities, in bytes; larger ones are left out
	maxOwnAuthorities = 256 << 10 // the same for this host's own, together
)

// authorities returns the certificates that an operator added to those of the system, as a company needs that inspects
// TLS: what SSL_CERT_FILE and NODE_EXTRA_CA_CERTS name to this process, and what was added to the system's. all also
// has the system's. Both are nil if there are none.
func (s *Sandbox) authorities() (own, all []byte) {
	var files []string
	for _, name := range []string{"SSL_CERT_FILE", nodeVariable} {
		if file, _ := LookupEnv(s.options.Env, name); !slices.Contains(systemAuthorities, file) {
			files = append(files, file)
		}
	}
	for _, pattern := range addedAuthorities {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		files = append(files, found...)
	}
	var system []byte
	for _, name := range systemAuthorities {
		if system = readAuthorities(name); len(system) > 0 {
			break
		}
	}
	for _, file := range files {
		for _, cert := range certificates(readAuthorities(file)) {
			if len(own)+len(cert) <= maxOwnAuthorities && !bytes.Contains(own, cert) {
				own = append(own, cert...)
			}
		}
	}
	if own == nil {
		return nil, nil
	}
	return own, append(append(bytes.Clone(own), '\n'), system...)
}

// certificates returns the certificates of a PEM file, each as a block, without what else is in the file, such as keys.
func certificates(text []byte) (all [][]byte) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			all = append(all, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
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
