package gomodule

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"
)

const (
	path    = "example.com/Priors" // a capital, which proxies escape
	version = "v1.2.3"
	asked   = "/example.com/!priors/@v/v1.2.3.zip"
)

// packed is the module's zip with a file of some content.
func packed(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(path + "@" + version + "/priors.txt")
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// serving answers with a handler, for as long as the test runs.
func serving(t *testing.T, h http.HandlerFunc) string {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// proxy has one module.
func proxy(t *testing.T, zip []byte) string {
	return serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != asked {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(zip)
	})
}

func from(t *testing.T, env map[string]string) Source {
	return FromEnv(func(name string) string { return env[name] }, t.TempDir())
}

func TestProxies(t *testing.T) {
	good := proxy(t, packed(t, "hello"))
	absent := serving(t, http.NotFound)
	refusing := serving(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	dir := t.TempDir()
	at := filepath.Join(dir, filepath.FromSlash(asked))
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, packed(t, "hello"), 0o644)); err != nil {
		t.Fatal(err)
	}
	folder := "file://" + filepath.ToSlash(dir)
	for _, tt := range []struct{ name, goproxy, private, why string }{
		{"one", good, "", ""},
		{"a folder", folder, "", ""},
		{"the second has it", absent + "," + good, "", ""},
		{"the first fails", refusing + "," + good, "", "403"},
		{"the first fails, with a bar", refusing + "|" + good, "", ""},
		{"none has it", absent + "," + absent, "", "no proxy gave it"},
		{"none has it in a folder", folder + "/none", "", "not found"},
		{"off", "off", "", "GOPROXY is off"},
		{"direct", absent + ",direct", "", "does not fetch modules"},
		{"private", good, "example.com/*", "GOPRIVATE"},
		{"no address", "ftp://x", "", "is no address"},
		{"a password is not told", strings.Replace(refusing, "http://", "http://me:hunter2@", 1), "", "me:xxxxx@127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := from(t, map[string]string{"GOPROXY": tt.goproxy, "GOSUMDB": "off", "GOPRIVATE": tt.private})
			b, err := s.File(t.Context(), path, version, "priors.txt", 100)
			switch {
			case tt.why == "" && (err != nil || string(b) != "hello"):
				t.Errorf("%q, %v", b, err)
			case tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why) ||
				strings.Contains(err.Error(), "hunter2")):
				t.Errorf("%v, want %q", err, tt.why)
			}
		})
	}
}

// What a proxy sends is bounded, and is no more than a zip with a file.
func TestHostileProxies(t *testing.T) {
	var bomb bytes.Buffer
	z := zip.NewWriter(&bomb)
	w, err := z.Create(path + "@" + version + "/priors.txt")
	for range unzipLimit>>20 + 1 {
		if err == nil {
			_, err = w.Write(make([]byte, 1<<20))
		}
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		zip   []byte
		limit int64
		why   string
	}{
		{"no zip", []byte("hello"), 100, "not a valid zip"},
		{"a bomb", bomb.Bytes(), 1 << 40, "more than 64 MiB are in it"},
		{"too large", make([]byte, zipLimit+1), 100, "more than 16777216 bytes"},
		{"a large file", packed(t, strings.Repeat("a", 101)), 100, "more than 100 bytes"},
	} {
		s := from(t, map[string]string{"GOPROXY": proxy(t, tt.zip), "GOSUMDB": "off"})
		_, err := s.File(t.Context(), path, version, "priors.txt", tt.limit)
		if err == nil || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.why)
		}
	}
	s := from(t, map[string]string{"GOPROXY": proxy(t, packed(t, "x")), "GOSUMDB": "off"})
	if _, err := s.File(t.Context(), path, version, "../../etc/passwd", 100); err == nil {
		t.Error("a file outside is read")
	}
	for _, v := range []string{"latest", "v1", "main", "", "v1.2.3/../v9.9.9"} {
		if _, err := s.File(t.Context(), path, v, "priors.txt", 100); err == nil {
			t.Errorf("version %q is read", v)
		}
	}
	for _, p := range []string{"", "..", "example.com/../x", "Example", "a b.com/x"} {
		if _, err := s.File(t.Context(), p, version, "priors.txt", 100); err == nil {
			t.Errorf("module %q is read", p)
		}
	}
}

// database is a checksum database that knows one sum; its address, and GOSUMDB for it.
func sumDatabase(t *testing.T, sum string) (handler http.Handler, key string) {
	t.Helper()
	signer, key, err := note.GenerateKey(rand.Reader, "sums.example")
	if err != nil {
		t.Fatal(err)
	}
	return sumdb.NewServer(sumdb.NewTestServer(signer, func(path, vers string) ([]byte, error) {
		return fmt.Appendf(nil, "%s %s %s\n%s %s/go.mod h1:x\n", path, vers, sum, path, vers), nil
	})), key
}

func sumOf(t *testing.T, b []byte) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), "m.zip")
	if err := os.WriteFile(f, b, 0o644); err != nil {
		t.Fatal(err)
	}
	sum, err := dirhash.HashZip(f, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// Content that the checksum database knows otherwise is refused, however the database is reached.
func TestChecksums(t *testing.T) {
	zip := packed(t, "hello")
	for name, tt := range map[string]struct{ sum, why string }{
		"as known": {sumOf(t, zip), ""}, "other content": {sumOf(t, packed(t, "evil")), "SECURITY"},
	} {
		h, key := sumDatabase(t, tt.sum)
		direct := serving(t, h.ServeHTTP)
		var viaProxy atomic.Int32
		both := serving(t, func(w http.ResponseWriter, r *http.Request) {
			rest, isSum := strings.CutPrefix(r.URL.Path, "/sumdb/sums.example")
			switch {
			case r.URL.Path == asked:
				_, _ = w.Write(zip)
			case isSum && rest == "/supported":
			case isSum:
				viaProxy.Add(1)
				r.URL.Path = rest
				h.ServeHTTP(w, r)
			default:
				http.NotFound(w, r)
			}
		})
		for way, env := range map[string]map[string]string{
			"direct":          {"GOPROXY": proxy(t, zip), "GOSUMDB": key + " " + direct},
			"through a proxy": {"GOPROXY": both, "GOSUMDB": key},
		} {
			s := from(t, env)
			for range 2 { // the second time there is something to go on from
				b, err := s.File(t.Context(), path, version, "priors.txt", 100)
				if tt.why == "" && (err != nil || string(b) != "hello") ||
					tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why)) {
					t.Errorf("%s, %s: %q, %v", name, way, b, err)
				}
			}
			if kept, err := os.ReadFile(filepath.Join(s.dir, "sumdb", "sums.example", "latest")); err != nil || len(kept) == 0 {
				t.Errorf("%s, %s: what was signed last is not kept: %v", name, way, err)
			}
			env["GONOSUMDB"] = "example.com"
			if b, err := from(t, env).File(t.Context(), path, version, "priors.txt", 100); err != nil || string(b) != "hello" {
				t.Errorf("%s, exempt: %q, %v", name, b, err)
			}
		}
		if viaProxy.Load() == 0 {
			t.Errorf("%s: the proxy was not asked", name)
		}
	}
	h, _ := sumDatabase(t, sumOf(t, zip))
	_, otherKey := sumDatabase(t, sumOf(t, zip))
	s := from(t, map[string]string{"GOPROXY": proxy(t, zip), "GOSUMDB": otherKey + " " + serving(t, h.ServeHTTP)})
	if _, err := s.File(t.Context(), path, version, "priors.txt", 100); err == nil {
		t.Error("another key's signature is believed")
	}
	s.sumdb = otherKey[:10]
	_, err := s.File(t.Context(), path, version, "priors.txt", 100)
	if err == nil || !strings.Contains(err.Error(), "GOSUMDB") {
		t.Errorf("a damaged GOSUMDB: %v", err)
	}
}
