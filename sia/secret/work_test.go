package secret

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// soon runs f, which must end within a time that only superlinear work exceeds.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("masking %s takes too long", what)
	}
}

// Repeated beginnings of a private key are scanned once. A quarter of a megabyte of the first took a minute.
//
//test:plain
func TestManyBeginningsOfKeys(t *testing.T) {
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 2)
	for _, unit := range []string{
		"-----BEGIN RSA PRIVATE KEY----- x", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN ",
		"-----BEGIN PRIVATE KEY-----\nx\n", "-----BEGIN PRIVATE KEY-----\nProc-Type: x\n",
		"-----BEGIN-----BEGIN PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\n" + body[:20], "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n", "PRIVATE KEY-----",
		"-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----",
		"-----BEGIN " + strings.Repeat("A", 99),
	} {
		soon(t, fmt.Sprintf("%.60q", unit), func() { Mask(strings.Repeat(unit, 512<<10/len(unit))) })
	}
}

// The time for a repeated beginning of any rule is linear in its length.
//
//test:plain
func TestManyBeginningsOfEveryRule(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range allShapes().rules {
		for _, k := range r.keywords {
			unit := k + "="
			if seen[unit] {
				continue
			}
			seen[unit] = true
			soon(t, fmt.Sprintf("%q", unit), func() { Mask(strings.Repeat(unit, 48<<10/len(unit))) })
		}
	}
}

// A header without a key does not hide the key after the next header.
func TestKeyBehindHeaders(t *testing.T) {
	header, footer := "-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----"
	body := strings.TrimSpace(strings.Repeat(strings.Repeat("aB3dE6g9", 8)+"\n", 6))
	for name, text := range map[string]string{
		"another header": header + header + body + footer, "no header": header + "-----BEGIN x\n" + body + footer,
		"cut off": header + header + body, "two keys": header + body + header + body + footer,
	} {
		if got := Mask(text); strings.Contains(got, "aB3dE6g9") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
