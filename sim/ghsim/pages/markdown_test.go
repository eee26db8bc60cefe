package pages

import (
	"strings"
	"testing"
)

func FuzzMarkdown(f *testing.F) {
	f.Add("<script>x</script> [a](javascript:b)")
	md := newMarkdown()
	f.Fuzz(func(t *testing.T, text string) {
		if out := strings.ToLower(string(md.render(text))); strings.Contains(out, "<script") {
			t.Errorf("rendered %q", out)
		}
	})
}
