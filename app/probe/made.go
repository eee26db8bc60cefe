package probe

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// Pull is a pull request that a bench made.
type Pull struct {
	Number       int64
	Node         string // its id in GraphQL
	Branch, Base string
	Head         string // commit
}

// commitSpec says what a commit holds.
type commitSpec struct {
	parent  string
	files   map[string]string
	message string // "": a name that nothing else has
	author  map[string]any
}

// tree is a tree of files over a commit's. Commits of the same share it.
func (t *Try) tree(parent string, files map[string]string) string {
	entries, key := []map[string]any{}, "tree of "+parent
	for _, path := range slices.Sorted(maps.Keys(files)) {
		entries = append(entries, map[string]any{"path": path, "mode": "100644", "type": "blob", "content": files[path]})
		key += "\x00" + path + "\x00" + files[path]
	}
	return once(t, key, func(t *Try) string {
		a := t.Post("/git/trees", map[string]any{"base_tree": parent, "tree": entries})
		return t.Want(a, http.StatusCreated).Str("sha")
	})
}

// commit makes a commit through the API, on no branch.
func (t *Try) commit(s commitSpec) Answer {
	if s.message == "" {
		s.message = t.unique("commit")
	}
	body := map[string]any{"message": s.message, "tree": t.tree(s.parent, s.files), "parents": []string{s.parent}}
	if s.author != nil {
		body["author"] = s.author
	}
	return t.Want(t.Post("/git/commits", body), http.StatusCreated)
}

// start is the commit that branches of the bench begin at: the default branch's, as it was first seen.
func (t *Try) start() string {
	return once(t, "start", func(t *Try) string {
		return t.Want(t.Get("/git/ref/heads/%s", url.PathEscape(t.raw.DefaultBranch)), http.StatusOK).Str("object.sha")
	})
}

// file is a commit with a file on top of another; each line of it is another than the parent's.
func (t *Try) file(parent string) string {
	return t.commit(commitSpec{parent: parent, files: onFile(parent)}).Str("sha")
}

// onFile is the file that the bench's commits change.
func onFile(content string) map[string]string {
	return map[string]string{mark + ".txt": content + "\n1\n2\n3\n"}
}

// branch makes a branch at a commit and returns its name.
func (t *Try) branch(sha string) string {
	name := t.unique("branch")
	t.ref("refs/heads/"+name, sha)
	return name
}

// ref makes a ref. It is to be taken back even where the answer is lost.
func (t *Try) ref(ref, sha string) {
	if !t.ok() {
		return
	}
	t.undos = append(t.undos, undoRef(ref))
	t.Want(t.Post("/git/refs", map[string]any{"ref": ref, "sha": sha}), http.StatusCreated)
}

// push moves a branch.
func (t *Try) push(branch, sha string, force bool) Answer {
	return t.Send(http.MethodPatch, "/git/refs/heads/"+branch, map[string]any{"sha": sha, "force": force})
}

// base is the branch that pull requests of the bench are to be merged into.
func (t *Try) base() string {
	return once(t, "base", func(t *Try) string { return t.branch(t.start()) })
}

// commitOnce is a commit that facts share which look at what judges one.
func (t *Try) commitOnce() string {
	return once(t, "commit", func(t *Try) string {
		sha := t.file(t.start())
		t.branch(sha)
		return sha
	})
}

// pullOnce is a pull request that facts share which leave it as it is.
func (t *Try) pullOnce() Pull {
	return once(t, "pull", func(t *Try) Pull { return t.pull(t.base(), nil) })
}

// pull opens a pull request with a commit of its own.
func (t *Try) pull(base string, more map[string]any) Pull {
	p := Pull{Base: base, Head: t.file(t.start())}
	p.Branch = t.branch(p.Head)
	body := map[string]any{"title": p.Branch, "head": p.Branch, "base": base, "body": "Made by `sia doctor github`."}
	for k, v := range more {
		body[k] = v
	}
	a := t.Want(t.Post("/pulls", body), http.StatusCreated)
	p.Number, p.Node = a.Int("number"), a.Str("node_id")
	t.madeIssue(p.Branch, p.Number)
	return p
}

// issue opens an issue and returns its number.
func (t *Try) issue() int64 {
	title := t.unique("issue")
	a := t.Want(t.Post("/issues", map[string]any{"title": title, "body": "Made by `sia doctor github`."}),
		http.StatusCreated)
	t.madeIssue(title, a.Int("number"))
	return a.Int("number")
}

// issueOnce is an issue that facts share.
func (t *Try) issueOnce() int64 { return once(t, "issue", (*Try).issue) }

func (t *Try) madeIssue(title string, number int64) {
	if number != 0 {
		t.undos = append(t.undos, undoIssue(title, number))
	}
}

// checkRun makes a check run.
func (t *Try) checkRun(sha, name, conclusion string) Answer {
	return t.Want(t.Post("/check-runs", map[string]any{"name": name, "head_sha": sha, "conclusion": conclusion,
		"output": map[string]any{"title": name, "summary": "Made by `sia doctor github`."}}), http.StatusCreated)
}

// status sets a commit status.
func (t *Try) status(sha, context, state string) Answer {
	return t.Want(t.Post("/statuses/"+sha, map[string]any{"state": state, "context": context}), http.StatusCreated)
}

// requireChecks puts a ruleset in force that wants checks on a branch.
func (t *Try) requireChecks(branch string, strict bool, contexts ...string) int64 {
	var list []map[string]any
	for _, c := range contexts {
		list = append(list, map[string]any{"context": c})
	}
	name := t.unique("ruleset")
	a := t.Want(t.Post("/rulesets", map[string]any{"name": name, "target": "branch", "enforcement": "active",
		"conditions": map[string]any{"ref_name": map[string]any{"include": []string{"refs/heads/" + branch},
			"exclude": []string{}}},
		"rules": []map[string]any{{"type": "required_status_checks", "parameters": map[string]any{
			"strict_required_status_checks_policy": strict, "do_not_enforce_on_create": true,
			"required_status_checks": list}}}}), http.StatusCreated)
	if id := a.Int("id"); id != 0 {
		t.undos = append(t.undos, undoRuleset(name, id))
	}
	return a.Int("id")
}

// path is a path with numbers in it.
func path(format string, args ...any) string { return fmt.Sprintf(format, args...) }
