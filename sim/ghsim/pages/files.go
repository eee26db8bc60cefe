package pages

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// splitRef takes a branch, tag or commit off the beginning of a path.
func (st *site) splitRef(repo *model.Repository, p string) (ref, sha, rest string, err error) {
	parts := strings.Split(strings.Trim(p, "/"), "/")
	for n := len(parts); n > 0; n-- {
		ref = strings.Join(parts[:n], "/")
		if sha = repo.Head(ref); sha != "" {
			return ref, sha, strings.Join(parts[n:], "/"), nil
		}
	}
	if sha, found := st.world.CommitOf(repo, parts[0]); found {
		return parts[0], sha, strings.Join(parts[1:], "/"), nil
	}
	return "", "", "", fmt.Errorf("%s: %w", p, errNoPage)
}

type filePage struct {
	Ref, Path string
	Markdown  string
	Lines     []string
	Binary    bool
}

func (p filePage) title() string { return p.Path + " at " + p.Ref }

func (st *site) filePage(repo *model.Repository, r *http.Request) (string, any, error) {
	ref, sha, name, err := st.splitRef(repo, r.PathValue("path"))
	if err != nil {
		return "", nil, err
	}
	b, err := st.git.BlobAt(repo.Dir, sha, name)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", err, errNoPage)
	}
	p := filePage{Ref: ref, Path: name}
	switch text := string(b); {
	case strings.ContainsRune(text[:min(len(text), 8000)], 0):
		p.Binary = true
	case strings.HasSuffix(name, ".md") && r.URL.Query().Get("plain") == "":
		p.Markdown = text
	default:
		p.Lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	return "file", p, nil
}

type treePage struct {
	Ref, Path string
	Files     []git.Entry
}

func (p treePage) title() string { return p.Path + " at " + p.Ref }

func (st *site) treePage(repo *model.Repository, r *http.Request) (string, any, error) {
	ref, sha, dir, err := st.splitRef(repo, r.PathValue("path"))
	if err != nil {
		return "", nil, err
	}
	es, err := st.git.List(repo.Dir, sha, dir, r.URL.Query().Get("all") != "")
	if err != nil || len(es) == 0 {
		return "", nil, fmt.Errorf("%s: %w", dir, errNoPage)
	}
	return "tree", treePage{ref, dir, es}, nil
}

// raw serves a file as plain text.
func (st *site) raw(w http.ResponseWriter, r *http.Request) {
	st.world.Lock()
	defer st.world.Unlock()
	repo, err := st.repo(r)
	var b []byte
	if err == nil {
		var sha, name string
		if _, sha, name, err = st.splitRef(repo, r.PathValue("path")); err == nil {
			b, err = st.git.BlobAt(repo.Dir, sha, name)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(b)
}
