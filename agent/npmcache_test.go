package agent_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/sia"
)

// npmRegistry serves one package, half 1.2.3, and returns its host and port.
func npmRegistry(t *testing.T) string {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	files := tar.NewWriter(zip)
	for name, text := range map[string]string{
		"package/package.json": `{"name": "half", "version": "1.2.3"}`,
		"package/index.js":     "module.exports = (n) => n / 2\n",
	} {
		if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(packed.Bytes())
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = w.Write(packed.Bytes())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"name": "half", "dist-tags": {"latest": "1.2.3"}, "versions": {"1.2.3": {"name": "half", `+
			`"version": "1.2.3", "dist": {"tarball": "https://%s/half/-/half-1.2.3.tgz", "integrity": "sha512-%s"}}}}`,
			r.Host, base64.StdEncoding.EncodeToString(sum[:]))
	}))
	t.Cleanup(srv.Close)
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "localhost:" + port
}

// Without a lock file, npm reads the metadata of packages from its cache, which must be writable.
func TestNpmWithoutALockFile(t *testing.T) {
	registry, cache := npmRegistry(t), t.TempDir()
	for _, note := range []string{"setup with network to " + registry + ", kept", "setup with what was fetched before"} {
		b := contained(t, turns(command("rm -rf node_modules && npm install --no-package-lock --no-audit --silent; "+
			"node -p 'require(\"half\")(3)'; touch $npm_config_cache/_cacache/content-v2/x"), done), cache,
			func(c *containment) {
				c.box, c.hosts = sandboxtest.New(t, sandbox.Options{Self: forwarding(t)}), []string{registry}
			})
		b.write("package.json", `{"name": "shop", "version": "1.0.0", "dependencies": {"half": "^1.0.0"}}`)
		b.write(".npmrc", "registry=https://"+registry+"/\nstrict-ssl=false\nupdate-notifier=false\n")
		b.in.OnBase = true
		b.in.Setup = []string{"NO_PROXY= npm install --no-package-lock --no-audit --silent --fetch-retries=0"}
		if res := b.run(); res.End != sia.EndFinished {
			t.Errorf("%+v", res)
		}
		if b.rec.notes() != note {
			t.Errorf("%q, want %q", b.rec.notes(), note)
		}
		if got := b.results("run")[0]; !strings.Contains(got, "\n1.5\n") || !strings.Contains(got, "Read-only file system") {
			t.Errorf("%s: %s", note, got)
		}
	}
}
