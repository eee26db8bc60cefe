package technique

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/sia"
)

// EncodeFile and ParseFile round-trip: every built-in technique, and one with values that YAML could misinterpret.
func TestFileRoundTrip(t *testing.T) {
	library, errs := LoadLibrary(nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	all := append(library.All(), Technique{
		ID: "no", Name: "Yes: #1 - it's \"quoted\"", When: "- a: b # c",
		Ranks:         map[sia.Pattern]int{sia.WrongOrder: 3, sia.Environment: 1},
		Preconditions: []Precondition{NeedsFailure}, Changes: []Change{ChangeQuote, ChangeSteps}, Trial: true,
		Prompt: "---\nnot a front matter\n---\n\nIndented:\n\n    code",
	})
	for _, want := range all {
		b, err := EncodeFile(want)
		if err != nil {
			t.Errorf("%s: %v", want.ID, err)
			continue
		}
		got, err := ParseFile(FilePath(want.ID), b)
		if err != nil {
			t.Errorf("%s: %v", want.ID, err)
		}
		want.Path, want.Shipped = FilePath(want.ID), false
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: -want +got\n%s", want.ID, diff)
		}
	}
	for _, bad := range []Technique{{}, {ID: "x", Name: "X", When: "y", Prompt: "z"}, {ID: "../x"}} {
		if b, err := EncodeFile(bad); err == nil {
			t.Errorf("%+v was written: %s", bad, b)
		}
	}
}
