package trial

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A line that also occurs elsewhere in the file is shown where it was added or removed.
func TestDiffOfPolicies(t *testing.T) {
	was := "bug:\n  retry: 0.1\ndocs:\n  retry: 0.3\n"
	now := "bug:\n  retry: 0.3\ndocs:\n  retry: 0.3\n"
	want := "@@ -1,4 +1,4 @@\n bug:\n-  retry: 0.1\n+  retry: 0.3\n docs:\n   retry: 0.3"
	if d := cmp.Diff(want, unified(was, now)); d != "" {
		t.Error(d)
	}
}
