package priors

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func key(t *testing.T) Key {
	t.Helper()
	k, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// blurred returns counts with noise.
func blurred(t testing.TB, c Counts, seed byte) Counts {
	t.Helper()
	out, err := c.Blur(NewNoise(mathrand.NewChaCha8([32]byte{seed})))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestKeys(t *testing.T) {
	k := key(t)
	for range 50 { // every other one has a plus sign in its seed
		k = key(t)
		again, err := ParseKey("\n" + k.Private() + "\n")
		if err != nil || again != k {
			t.Errorf("read again: %v, %v", again.Public() == k.Public(), err)
		}
	}
	if err := Fits(k.Public()); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "x", k.Public(), k.Private()[:40], k.Private() + "A"} {
		if _, err := ParseKey(bad); err == nil || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "x", k.Private(), "a+b+c", k.Public() + "\n" + k.Public(),
		strings.Repeat("a", 5000)} {
		if err := Fits(bad); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.50q: %v", bad, err)
		}
	}
	if other := key(t); other.Public() == k.Public() {
		t.Error("two keys are one")
	}
}

func TestReportIsReadAgain(t *testing.T) {
	k := key(t)
	want := Report{Key: k.Public(), Period: 3, Counts: blurred(t, Counts{Cells()[0]: {Resolved: 12, Failed: 5}}, 1)}
	signed, err := want.Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadReport(signed)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(signed) > Limit/4 {
		t.Errorf("a report has %d bytes, which is near the limit", len(signed))
	}
}

// Everything that an installation would not have signed is rejected, with a reason.
func TestHostileReports(t *testing.T) {
	k, other := key(t), key(t)
	good, err := Report{Key: k.Public(), Period: 1, Counts: blurred(t, nil, 2)}.Text()
	if err != nil {
		t.Fatal(err)
	}
	first := fmt.Sprintf(`{"language":"go","pattern":%q,"technique":"decomposition","resolved":`, Patterns()[0])
	at := strings.Index(good, first)
	number := good[at : at+strings.Index(good[at:], "}")]
	with := func(old, now string) string { return strings.Replace(good, old, now, 1) }
	for _, tt := range []struct{ name, text, why string }{
		{"no JSON", "hello\n", `format is ""`},
		{"another format", with(ReportFormat, "sia-counts/99"), `"sia-counts/99"`},
		{"an unknown field", with(`"period"`, `"periods"`), "unknown field"},
		{"a field twice", with(`"period": 1`, "\"period\": 1,\n  \"period\": 1"), "not in the form"},
		{"no period", with(`"period": 1`, `"period": 0`), "no period 0"},
		{"a late period", with(`"period": 1`, `"period": 100001`), "no period"},
		{"less noise", with(`"epsilon": 1`, `"epsilon": 9`), "ε = 9"},
		{"a huge count", with(number, first+`99999999,"failed":0`), "beyond"},
		{"a count that overflows", with(number, first+`99999999999999999999,"failed":0`), "cannot unmarshal"},
		{"the least count there is", with(number, first+`-9223372036854775808,"failed":0`), "beyond"},
		{"a fraction", with(number, first+`1.5,"failed":0`), "cannot unmarshal"},
		{"another writing", with(number, first+`1e2,"failed":0`), "cannot unmarshal"},
		{"a cell twice", with(`"technique":"tool-change"`, `"technique":"decomposition"`), "cell 2"},
		{"a cell of our own", with(`"technique":"tool-change"`, `"technique":"acme-trick"`), "cell 2"},
		{"a cell missing", with(good[at:at+strings.Index(good[at:], "\n")+5], ""), "3014 cells"},
		{"text behind it", good + "{}\n", "not in the form"},
		{"deep", strings.Repeat("[", 100_000) + "\n", "format"},
	} {
		if tt.text == good {
			t.Errorf("%s changes nothing", tt.name)
		}
		signed, err := k.sign(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadReport(signed); err == nil || !strings.Contains(err.Error(), tt.why) || len(err.Error()) > 500 {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.why)
		}
	}
	theirs, err := other.sign(good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadReport(theirs); !errors.Is(err, ErrNotTrusted) {
		t.Errorf("signed by another key than it names: %v", err)
	}
	mine, err := k.sign(good)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(mine), `"period": 1`, `"period": 2`, 1)
	if _, err := ReadReport([]byte(edited)); err == nil {
		t.Error("an edited report is read")
	}
	for _, bad := range []string{"", "\n\n— ", good, string(mine[:len(mine)-5]), strings.Repeat("a", Limit+1),
		"\x00" + string(mine)} {
		if _, err := ReadReport([]byte(bad)); err == nil {
			t.Errorf("%.20q is read", bad)
		}
	}
}

func TestReadBounded(t *testing.T) {
	if b, err := ReadBounded(strings.NewReader("abc")); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := ReadBounded(endless{}); err == nil || !strings.Contains(err.Error(), "more than 2 MiB") {
		t.Errorf("without end: %v", err)
	}
}

// endless is a reader without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestPriorsAreReadAgain(t *testing.T) {
	k, other := key(t), key(t)
	want, err := Aggregate(collection(t, 12, Counts{Cells()[0]: {Resolved: 40, Failed: 60}}), time.Unix(1_800_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := want.Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	got, by, err := ReadPriors(signed, []string{other.Public(), k.Public()})
	if err != nil || by != k.Public() {
		t.Fatalf("by %s, %v", by, err)
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Priors{}, share{})); d != "" {
		t.Error(d)
	}
	_, _, err = ReadPriors(signed, []string{other.Public()})
	if name, _, _ := strings.Cut(k.Public(), "+"); !errors.Is(err, ErrNotTrusted) || !strings.Contains(err.Error(), name) {
		t.Errorf("of a stranger: %v", err)
	}
	if _, _, err := ReadPriors(signed, nil); !errors.Is(err, ErrNotTrusted) {
		t.Errorf("nobody is trusted: %v", err)
	}
	text, err := want.Text()
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.SplitAfter(text, "\n")
	for _, tt := range []struct{ name, text, why string }{
		{"another format", strings.Replace(text, PriorsFormat, "sia-priors/2", 1), `"sia-priors/2"`},
		{"few installations", strings.Replace(text, `"installations": 12`, `"installations": 2`, 1), "can't be"},
		{"no day", strings.Replace(text, "2027-01-15", "2027-13-15", 1), "can't be"},
		{"a negative count", strings.Replace(text, `"resolved":`, `"resolved":-`, 1), "can't be"},
		{"a huge count", strings.Replace(text, `"resolved":`, `"resolved":9000000000000`, 1), "can't be"},
		{"no number", strings.Replace(text, `"resolved":`, `"resolved":"`, 1), "invalid character"},
		{"a cell of our own", strings.Replace(text, `"decomposition"`, `"acme"`, 1), "public list"},
		{"a cell twice", strings.Join(append(rows[:7:7], rows[6:]...), ""), "public list"},
	} {
		signed, err := k.sign(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadPriors(signed, []string{k.Public()}); err == nil || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.why)
		}
	}
}

// A file that is accepted equals the file written again, for any signed content.
func FuzzRead(f *testing.F) {
	k, err := NewKey(mathrand.NewChaCha8([32]byte{3}))
	if err != nil {
		f.Fatal(err)
	}
	report, err := Report{Key: k.Public(), Period: 1, Counts: blurred(f, nil, 2)}.Text()
	if err != nil {
		f.Fatal(err)
	}
	p := &Priors{Made: "2026-11-23", Installations: 12, Reports: 15, cells: map[Cell]share{Cells()[0]: {1.5, 7, 11}}}
	priors, err := p.Text()
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{report[:400] + "}]}\n", priors, "{}\n", priors[:80] + "\n"} { // short ones are quicker
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		signed, err := k.sign(text)
		if err != nil {
			return
		}
		if r, err := ReadReport(signed); err == nil {
			if again, err := r.Text(); err != nil || again != text {
				t.Errorf("read as something else: %v", err)
			}
		}
		if p, _, err := ReadPriors(signed, []string{k.Public()}); err == nil {
			if again, err := p.Text(); err != nil || again != text {
				t.Errorf("read as something else: %v", err)
			}
		}
	})
}
