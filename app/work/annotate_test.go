package work

import "testing"

func TestMeant(t *testing.T) {
	files := []string{"a/x.go", "b/x.go", "x.go", "deep/b/x.go"}
	for _, c := range []struct {
		name           string
		files, changed []string
		want           string
	}{
		{"a/x.go", files, nil, "a/x.go"},
		{"b/x.go", files, nil, "b/x.go"},
		{"/home/runner/work/shop/shop/deep/b/x.go", files, nil, "deep/b/x.go"},
		{"x.go", files, nil, ""},
		{"x.go", files, []string{"b/x.go"}, "b/x.go"},
		{"x.go", files, []string{"a/x.go", "b/x.go"}, ""},
		{"x.go", []string{"x.go"}, nil, "x.go"},
		{"x.go", []string{"a/x.go"}, nil, "a/x.go"},
		{"/usr/lib/go/src/x.go", []string{"x.go"}, nil, ""}, // not in the repository
		{"other/x.go", []string{"a/x.go"}, nil, ""},
		{"x.go", nil, nil, ""},
	} {
		if got := matchFile(c.name, c.files, c.changed); got != c.want {
			t.Errorf("%s in %v, changed %v: %q, want %q", c.name, c.files, c.changed, got, c.want)
		}
	}
}
