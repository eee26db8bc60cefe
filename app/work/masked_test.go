package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/secret/secrettest"
)

// Lessons from a user's push are committed without secrets. (The test is not next to the type, because packages in sia
// don't import one another.)
func TestLessonMasked(t *testing.T) {
	stays := []string{
		"Change", "Precondition", // a few words each
		"TechniqueID", // of one that is in the library
	}
	mask := func(l diagnose.FixLesson) diagnose.FixLesson { return sia.Masked(l, secrettest.Mask) }
	if d := cmp.Diff(stays, secrettest.Unmasked(t, diagnose.FixLesson{}, mask)); d != "" {
		t.Errorf("what stays is not what is listed: -listed +stays\n%s", d)
	}
}
