package policies_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/policies"
)

func TestKind(t *testing.T) {
	for title, want := range map[string]policies.Kind{
		"Crash when the config file is empty":                  policies.KindBug,
		"TypeError: 'NoneType' object is not iterable in sync": policies.KindBug,
		"Login fails with a wrong error":                       policies.KindBug,
		"Add support for OAuth device flow":                    policies.KindFeature,
		"Refactor the scheduler into smaller functions":        policies.KindRefactor,
		"Typo in README":                         policies.KindDocs,
		"Bump dependencies for the next release": policies.KindChore,
		"Increase test coverage of parser tests": policies.KindTests,
		"":                                       policies.KindOther,
	} {
		if got := policies.Read(title, "", nil).Kind; got != want {
			t.Errorf("%q is %s, want %s", title, got, want)
		}
	}
	if got := policies.Read("The parser", "", []string{"type: bug"}).Kind; got != policies.KindBug {
		t.Errorf("labelled as a bug it is %s", got)
	}
}

func TestFeatures(t *testing.T) {
	vague := policies.Read("Maybe make it better?", "Could we improve this somehow? Not sure. What do you think?", nil)
	firm := policies.Read("parse_url drops the port", "`parse_url(\"a:80\")` in `net/url.py` returns `a`.\n\n"+
		"Expected: `a:80`.\n\n"+
		"```\n>>> parse_url('a:80')\n'a'\n```\n", nil)
	if vague.Ambiguity < 0.6 || firm.Ambiguity > 0.2 {
		t.Errorf("ambiguity: vague %.2f, firm %.2f", vague.Ambiguity, firm.Ambiguity)
	}
	if firm.CodeRefs < 3 || vague.CodeRefs != 0 {
		t.Errorf("references to code: firm %d, vague %d", firm.CodeRefs, vague.CodeRefs)
	}
	if many := policies.Read("Rework exports", "- must write CSV\n- must write JSON\n"+
		"- must read `a.go`, `b.go`, `c.go`\n- also docs", nil); many.Complexity <= firm.Complexity {
		t.Errorf("complexity: many demands %.2f, one %.2f", many.Complexity, firm.Complexity)
	}
	if !policies.Read("Change the database schema", "", nil).Architecture || firm.Architecture {
		t.Error("architecture is touched by a schema, and not by a port that is dropped")
	}
}

// Text in a fence is an example, neither prose nor a demand, also with the CRLF line ends of GitHub's form.
func TestFencesAreExamples(t *testing.T) {
	const body = "It crashes on this file:\n\n```yaml\n- must: add\n- should: support\n- new: feature\n```\n\n" +
		"- keep the order\n"
	want := policies.Read("Crash on a list", body, nil)
	if want.Demands != 1 || want.Words != 13 || want.Kind != policies.KindBug {
		t.Errorf("%d demands, %d words, %s; want 1, 13, bug", want.Demands, want.Words, want.Kind)
	}
	if got := policies.Read("Crash on a list", strings.ReplaceAll(body, "\n", "\r\n"), nil); got != want {
		t.Errorf("with CRLF %+v, want %+v", got, want)
	}
}

// For any text, scores are within their range, and the same text has the same features.
func TestFeaturesHoldForAllTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title, body := rapid.String().Draw(t, "title"), rapid.String().Draw(t, "body")
		f := policies.Read(title, body, []string{rapid.String().Draw(t, "label")})
		for _, v := range []float64{f.Complexity, f.Ambiguity} {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("%+v", f)
			}
		}
		if again := policies.Read(title, body, nil); again.Words != f.Words || again.Ambiguity != f.Ambiguity {
			t.Fatalf("%+v, then %+v", f, again)
		}
	})
}

func TestLanguage(t *testing.T) {
	for want, paths := range map[string][]string{
		"go": {"a.go", "b.go", "web/x.ts", "README.md"}, "": {"README.md"}, "c": {"a.h", "b.c", "x.py"},
		"javascript": {"a.js", "b.ts"}, // as many of each: the first by name
	} {
		if got := policies.Language(paths); got != want {
			t.Errorf("%v: %q, want %q", paths, got, want)
		}
	}
}
