package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"testing"

	"github.com/sia-bot/sia/sia"
)

// A missing default branch is no error, whatever the reason; a failure of GitHub is one.
func TestDefaultHead(t *testing.T) {
	const here = `{"id":42,"name":"shop","owner":{"login":"acme"},"default_branch":"trunk"}`
	at := `{"ref":"refs/heads/trunk","object":{"type":"commit","sha":"abc"}}`
	for name, c := range map[string]struct {
		repo      string
		repoCode  int
		ref       string
		refCode   int
		want      string
		wantError bool
	}{
		"at a commit": {here, 200, at, 200, "abc", false},
		"empty":       {here, 200, `{"message":"Git Repository is empty."}`, 409, "", false},
		"gone":        {`{"message":"Not Found"}`, 404, at, 200, "", false},
		"renamed": {`{"id":42,"name":"store","full_name":"acme/store","owner":{"login":"acme"},` +
			`"default_branch":"trunk"}`, 200, at, 200,
			"", false},
		"another of its name": {`{"id":43,"name":"shop","owner":{"login":"acme"},"default_branch":"trunk"}`, 200, at, 200, "",
			false},
		"forbidden":     {`{"message":"Resource not accessible by integration"}`, 403, at, 200, "", true},
		"failing":       {`{"message":"Server Error"}`, 500, at, 200, "", true},
		"failing later": {here, 200, `{"message":"Server Error"}`, 502, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "/")
			w.json("GET /repos/acme/shop", c.repoCode, c.repo)
			w.json("GET /repos/acme/shop/git/ref/heads/trunk", c.refCode, c.ref)
			sha, ok, err := w.repo().DefaultHead(context.Background())
			if sha != c.want || ok != (c.want != "") || (err != nil) != c.wantError {
				t.Errorf("got %q, %v, %v", sha, ok, err)
			}
		})
	}
}

// A renamed repository is followed to its new name, and recognized there.
func TestDefaultHeadOfARenamedRepository(t *testing.T) {
	w := start(t, "/")
	w.HandleFunc("GET /repos/acme/shop", func(rw http.ResponseWriter, req *http.Request) {
		http.Redirect(rw, req, w.base+"repositories/42", http.StatusMovedPermanently)
	})
	w.json("GET /repositories/42", 200, `{"id":42,"name":"store","full_name":"acme/store","owner":{"login":"acme"},`+
		`"default_branch":"trunk"}`)
	if sha, ok, err := w.repo().DefaultHead(context.Background()); sha != "" || ok || err != nil {
		t.Errorf("got %q, %v, %v", sha, ok, err)
	}
	if len(w.got("GET /repositories/42")) != 1 {
		t.Error("it was not followed")
	}
}

// A repository outside the installation gets no token.
func TestDefaultHeadWithoutAToken(t *testing.T) {
	refused := http.NewServeMux()
	w := start(t, "/")
	refused.HandleFunc("POST /app/installations/{id}/access_tokens", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, 422, `{"message":"There is at least one repository that does not exist or is not accessible to `+
			`the parent installation."}`)
	})
	refused.HandleFunc("GET /app/installations/{id}", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, 200, `{"id":1,"account":{"login":"acme"},"permissions":{"actions":"write","checks":"write",
			"contents":"write","issues":"write","metadata":"read","pull_requests":"write","statuses":"read"}}`)
	})
	w.ServeMux = refused
	if sha, ok, err := w.repo().DefaultHead(context.Background()); sha != "" || ok || err != nil {
		t.Errorf("got %q, %v, %v", sha, ok, err)
	}
}

func TestFile(t *testing.T) {
	const name = ".sia/config.yml"
	file := func(kind, content string, size int) string {
		return fmt.Sprintf(`{"type":%q,"name":"config.yml","path":%q,"sha":"f","size":%d,"encoding":"base64","content":%q}`,
			kind, name, size, content)
	}
	for about, c := range map[string]struct {
		code  int
		body  string
		want  string
		found bool
		check func(error) bool // nil: no error
	}{
		"a file":        {200, file("file", "bGFiZWw6IGJvdAo=", 11), "label: bot\n", true, nil},
		"an empty file": {200, file("file", "", 0), "", true, nil},
		"none":          {404, `{"message":"Not Found"}`, "", false, nil},
		"a folder":      {200, `[` + file("file", "", 0) + `]`, "", false, nil},
		"a link":        {200, file("symlink", "", 3), "", false, nil},
		"a large file": {200, file("file", "", 101), "", true,
			func(err error) bool { return errors.Is(err, ErrTooLarge) }},
		"an unknown head": {404, `{"message":"No commit found for the ref abc"}`, "", false,
			func(err error) bool { return !permanent(err) }},
		"forbidden": {403, `{"message":"Resource not accessible by integration"}`, "", false, permanent},
		"failing":   {500, `{"message":"Server Error"}`, "", false, func(err error) bool { return !permanent(err) }},
	} {
		t.Run(about, func(t *testing.T) {
			w := start(t, "/")
			w.json("GET /repos/acme/shop/contents/"+name, c.code, c.body)
			got, found, err := w.repo().File(context.Background(), "abc", name, 100)
			if string(got) != c.want || found != c.found || (err != nil) != (c.check != nil) || err != nil && !c.check(err) {
				t.Errorf("got %q, %v, %v", got, found, err)
			}
			if asked := w.got("GET /repos/acme/shop/contents"); asked[0].query != "ref=abc" {
				t.Errorf("asked for %q", asked[0].query)
			}
		})
	}
}

// A folder whose name begins with a dot is not the top.
func TestNames(t *testing.T) {
	entry := func(kind, name string) string {
		return fmt.Sprintf(`{"type":%q,"name":%q,"path":%q,"sha":"f","size":1}`, kind, path.Base(name), name)
	}
	w := start(t, "/")
	w.json("GET /repos/acme/shop/contents/{$}", 200,
		"["+entry("dir", ".github")+","+entry("file", "a")+","+entry("symlink", "b")+"]")
	w.json("GET /repos/acme/shop/contents/.github/workflows", 200, "["+entry("file", ".github/workflows/ci.yml")+"]")
	w.json("GET /repos/acme/shop/contents/none", 404, `{"message":"Not Found"}`)
	for dir, want := range map[string][]string{".": {".github/", "a"}, ".github/workflows": {"ci.yml"}, "none": nil} {
		if got, err := w.repo().Names(context.Background(), "abc", dir); !slices.Equal(got, want) || err != nil {
			t.Errorf("%s: got %q, %v", dir, got, err)
		}
	}
}

func permanent(err error) bool {
	var e *sia.Error
	return errors.As(err, &e) && e.Permanent
}
