package people

import "testing"

func FuzzTick(f *testing.F) {
	f.Add("- [ ] A\n- [x] B", "A")
	f.Fuzz(func(t *testing.T, body, which string) {
		out, err := tick(body, which)
		if err == nil && len(out) != len(body) {
			t.Errorf("ticking changed the length from %d to %d", len(body), len(out))
		}
	})
}
