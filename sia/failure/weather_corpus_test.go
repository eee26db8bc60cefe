package failure

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// weatherCase is the end of a log, quoted from a public thread.
type weatherCase struct {
	name   string
	source string
	log    string
	passes bool // it is weather
	kept   bool // it was kept back while the rules were written
}

// weatherCorpus reads the quotations of a file of testdata/weather.
func weatherCorpus(t *testing.T, name string) []weatherCase {
	t.Helper()
	a, err := txtar.ParseFile("testdata/weather/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	var cases []weatherCase
	for _, f := range a.Files {
		source, log, _ := strings.Cut(string(f.Data), "\n")
		number, _, ok := strings.Cut(f.Name, " ")
		if !ok || !strings.HasPrefix(source, "https://github.com/") || log == "" {
			t.Fatalf("%s: section %q has no number, no source or no log", name, f.Name)
		}
		cases = append(cases, weatherCase{
			name: name + " " + f.Name, source: source, log: log, passes: name == "passes",
			kept: strings.ContainsAny(number[len(number)-1:], "02468"),
		})
	}
	return cases
}

// What strangers' logs say of weather is told from what uses its words: of what is called weather at least 95 of 100
// are, and at least 80 of 100 are found. That holds of the half that the rules were written with and of the one that
// was kept back, with the frame of a CI system and without.
func TestWeatherOfStrangers(t *testing.T) {
	cases := append(weatherCorpus(t, "passes"), weatherCorpus(t, "stays")...)
	for _, framed := range []bool{false, true} {
		for _, kept := range []bool{false, true} {
			found, missed, wrong := 0, 0, 0
			for _, c := range cases {
				if c.kept != kept {
					continue
				}
				log := c.log
				if framed {
					log = stepHead + strings.TrimSuffix(log, "\n") + stepEnd
				}
				rep, err := Read(t.Context(), strings.NewReader(log), Options{})
				if err != nil {
					t.Fatal(err)
				}
				switch called := isWeather[rep.Class]; {
				case called && c.passes:
					found++
				case c.passes:
					missed++
					t.Logf("missed: %s (%s): %s, why %q", c.name, c.source, rep.Class, rep.Why)
				case called:
					wrong++
					t.Logf("wrong: %s (%s): %s, why %q", c.name, c.source, rep.Class, rep.Why)
				}
			}
			precision, recall := float64(found)/float64(found+wrong), float64(found)/float64(found+missed)
			t.Logf("framed %t, kept back %t: precision %.3f, recall %.3f of %d", framed, kept, precision, recall, found+missed)
			if precision < .95 || recall < .8 {
				t.Errorf("framed %t, kept back %t: precision %.3f, recall %.3f", framed, kept, precision, recall)
			}
		}
	}
}
