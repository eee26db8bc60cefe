package webhook

import (
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

// "/sia use" takes a technique's id, its name as comments show it, or a coder's name, and ignores what follows.
func TestFindUse(t *testing.T) {
	library, errs := technique.LoadLibrary(map[string][]byte{technique.FilePath("quote-first"): []byte("---\nid: " +
		"quote-first\nname: Read the log\nwhen: it is new\npatterns: [wrong-order]\nchanges: [quote]\n---\nDo it.\n")})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	coders := []string{"gpt-5", "GPT-5-mini"}
	for said, want := range map[string]sia.Use{
		"context-pruning": {Technique: "context-pruning"}, "context pruning": {Technique: "context-pruning"},
		"context pruning because it is long": {Technique: "context-pruning"}, "read the log": {Technique: "quote-first"},
		"quote first": {Technique: "quote-first"}, "decomposition of the work": {Technique: "decomposition"},
		"gpt-5-mini": {Coder: "GPT-5-mini"}, "gpt-5 again": {Coder: "gpt-5"},
		"gpt-5-mni": {}, "context": {}, "context prunning": {}, "": {},
	} {
		if got, ok := findUse(said, library, coders); got != want || ok != (want != sia.Use{}) {
			t.Errorf("%q: %+v, %v; want %+v", said, got, ok, want)
		}
	}
}
