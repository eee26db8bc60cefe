//go:build linux

package sandbox_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// ownAuthority returns a certificate for localhost that no system trusts, and a file with it, a key and a broken one.
func ownAuthority(t *testing.T) (cert tls.Certificate, file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1),
		Subject: pkix.Name{CommonName: "An authority of its own"}, DNSNames: []string{"localhost"}, IsCA: true,
		BasicConstraintsValid: true, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "own.pem")
	var text []byte
	for kind, b := range map[string][]byte{"PRIVATE KEY": []byte("the key"), "CERTIFICATE": []byte("broken")} {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})...)
	}
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// What fetches something in the sandbox trusts the authority that SSL_CERT_FILE names to SIA, as behind a company's
// proxy that inspects TLS. Node, Python and curl each learn of it in another way. Without the variable none trusts it.
func TestFetchWithAnOwnAuthority(t *testing.T) {
	cert, file := ownAuthority(t)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "package")
	}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	c := sandbox.Command{Hosts: []string{"localhost:" + port}, Limits: sandbox.Limits{Time: time.Minute},
		Dir: tree(t, map[string]string{"fetch.js": `
const http = require('http'), tls = require('tls'), host = process.argv[2];
const req = http.request({ host: '127.0.0.1', port: 3128, method: 'CONNECT', path: host });
req.on('connect', (res, socket) => {
  const s = tls.connect({ socket, servername: 'localhost' }, () => { console.log('node'); s.destroy(); });
  s.on('error', (e) => console.log('node: ' + e.code));
}); req.end();`, "fetch.py": `
import http.client, sys
c = http.client.HTTPSConnection('127.0.0.1', 3128)
c.set_tunnel('localhost', int(sys.argv[1]))
try: c.request('GET', '/'); print('python')
except Exception as e: print('python: ' + type(e).__name__)
`}), Shell: "unset NO_PROXY; node fetch.js localhost:" + port + "; python3 fetch.py " + port +
			"; curl -s -o /dev/null https://localhost:" + port + " && echo curl; cat $HOME/.*authorities.pem | grep -c PRIVATE"}
	env := os.Environ()
	r := run(t, box(t, sandbox.Options{Env: append(env, "SSL_CERT_FILE="+file)}), c)
	if want := "node\npython\ncurl\n0\n"; string(r.Output) != want {
		t.Errorf("%s\n%s\nwant\n%s", r, r.Output, want)
	}
	r = run(t, box(t, sandbox.Options{Env: append(env, "SSL_CERT_FILE=")}), c)
	got := string(r.Output)
	if !strings.HasPrefix(got, "node: ") || !strings.Contains(got, "python: SSLCertVerificationError\n") {
		t.Errorf("trusted without the variable: %s\n%s", r, r.Output)
	}
}
