package gitops

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestMayPush sends nothing that the caller is not allowed to push: a branch, a ref or a deletion of a ref.
func TestMayPush(t *testing.T) {
	f := newFixture(t)
	refused := errors.New("the lease ran out")
	type allowed struct{}
	f.cache.mayPush = func(ctx context.Context) error {
		if ctx.Value(allowed{}) == nil {
			return refused
		}
		return nil
	}
	sha := f.change(f.main, "one")
	const ref = "refs/sia/objects/1"
	pushes := map[string]func(context.Context) error{
		"branch": func(ctx context.Context) error { return f.repo.Push(ctx, "b", sha, "") },
		"ref":    func(ctx context.Context) error { return f.repo.PushRef(ctx, ref, sha) },
		"files": func(ctx context.Context) error {
			_, _, err := f.repo.CommitFiles(ctx, FilesSpec{Branch: "memory", Message: "m", Author: testSpec("").Author,
				Update: func(func(string) ([]byte, error)) (map[string][]byte, error) {
					return map[string][]byte{"a": []byte("b")}, nil
				}})
			return err
		},
	}
	for _, may := range []bool{false, true} {
		ctx := t.Context()
		if may {
			ctx = context.WithValue(ctx, allowed{}, true)
		}
		f.log()
		for name, push := range pushes {
			if err := push(ctx); may != (err == nil) || !may && !errors.Is(err, refused) {
				t.Errorf("%s, allowed %v: %v", name, may, err)
			}
		}
		sent := strings.Count(strings.Join(f.log(), "\n"), "POST /app.git/git-receive-pack")
		if may && sent != len(pushes) || !may && sent != 0 {
			t.Errorf("allowed %v: %d pushes were sent", may, sent)
		}
	}
	if err := f.repo.DropRef(t.Context(), ref); !errors.Is(err, refused) {
		t.Errorf("the end of a ref: %v", err)
	}
}
