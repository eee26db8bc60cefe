package failure

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

const failingLog = "=== RUN   TestTotal\n--- FAIL: TestTotal (0.00s)\n" +
	"    cart_test.go:12: total is 41 €, want 42 😀\nFAIL\n"

func zipped(tb testing.TB, log string) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, log); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func inUTF16(log string, order binary.AppendByteOrder) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(log)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// A log yields the same report in every encoding.
func TestUnpack(t *testing.T) {
	want := read(t, failingLog, Options{})
	for name, log := range map[string]string{
		"gzip":              zipped(t, failingLog),
		"gzip in gzip":      zipped(t, zipped(t, failingLog)),
		"two members":       zipped(t, failingLog[:30]) + zipped(t, failingLog[30:]),
		"UTF-16LE":          inUTF16(failingLog, binary.LittleEndian),
		"UTF-16BE":          inUTF16(failingLog, binary.BigEndian),
		"UTF-16, CRLF":      inUTF16(strings.ReplaceAll(failingLog, "\n", "\r\n"), binary.LittleEndian),
		"UTF-16 in gzip":    zipped(t, inUTF16(failingLog, binary.BigEndian)),
		"UTF-8 with a mark": "\xef\xbb\xbf" + failingLog,
	} {
		if diff := cmp.Diff(want, read(t, log, Options{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	half := read(t, inUTF16(failingLog, binary.LittleEndian)+"x", Options{}) // half a character at the end
	if half.Text != want.Text || half.Signature != want.Signature || half.Class != want.Class {
		t.Errorf("odd length: %+v", half)
	}
}

// A damaged gzip is read up to the damage, and the report notes it.
func TestDamaged(t *testing.T) {
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = "abcdefghijklmnopqrstuvwxyz 0123456789\n"[rand.N(38)]
	}
	whole := zipped(t, failingLog+string(noise))
	flipped := []byte(whole)
	for i := len(flipped) / 2; i < len(flipped)/2+64; i++ {
		flipped[i] ^= 0x5a
	}
	for name, log := range map[string]string{
		"half of it":       whole[:len(whole)/2],
		"without its end":  whole[:len(whole)-6],
		"with wrong bytes": string(flipped),
		"with a tail":      whole + "and more",
		"twice packed":     zipped(t, whole[:len(whole)/2]),
	} {
		rep := read(t, log, Options{})
		if rep.Class != TestFailure || rep.Line != 2 || !strings.Contains(rep.Cut, "damaged") {
			t.Errorf("%s: %s, line %d, cut: %q", name, rep.Class, rep.Line, rep.Cut)
		}
	}
	for _, log := range []string{"\x1f\x8b", "\x1f\x8b\x08", "\x1f\x8b nothing of the kind"} {
		if rep := read(t, log, Options{}); rep.Cut == "" || rep.Class != Unknown {
			t.Errorf("%q: %+v", log, rep)
		}
	}
}

// A small gzip may unpack to a very large log. It is unpacked up to a limit, and the report notes it.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 64<<10) + "\n"
	_, _ = io.WriteString(z, failingLog)
	for n := 0; n < maxUnpacked+1<<20; n += len(line) {
		_, _ = io.WriteString(z, line)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]string{"once": b.String(), "twice": zipped(t, b.String())} {
		rep := read(t, log, Options{})
		if rep.Class != TestFailure || !strings.Contains(rep.Cut, "256 MiB") {
			t.Errorf("%s: %s, cut: %q", name, rep.Class, rep.Cut)
		}
	}
}

// Reading stops when its context is canceled, even while a large gzip is unpacked.
func TestReadIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log := &watched{Reader: repeat("all is well\n", 1<<40), every: 8 << 20, look: cancel}
	if _, err := Read(ctx, log, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	if _, err := Read(ctx, strings.NewReader(zipped(t, failingLog)), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}
