package probe

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// Pull is a pull request that a bench created.
type Pull struct {
	Number       int64
	Node         string // GraphQL id
	Branch, Base string
	Head         string // commit
}

// commitSpec is a commit to create.
type commitSpec struct {
	parent  string
	files   map[string]string
	message string // "": a unique name
	author  map[string]any
}

// tree creates a tree of files on top of a commit's. Commits with the same tree share it.
func (t *Try) tree(parent string, files map[string]string) string {
	entries, key := []map[string]any{}, "tree of "+parent
	for _, path := range slices.Sorted(maps.Keys(files)) {
		entries = append(entries, map[string]any{"path": path, "mode": "100644", "type": "blob", "content": files[path]})
		key += "\x00" + path + "\x00" + files[path]
	}
	return share(t, key, func(t *Try) string {
		a := t.Post("/git/trees", map[string]any{"base_tree": parent, "tree": entries})
		return t.Want(a, http.StatusCreated).Str("sha")
	})
}

// commit creates a commit through the API, on no branch.
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

// start returns the commit that the bench's branches begin at: the first seen head of the default branch.
func (t *Try) start() string {
	return share(t, "start", func(t *Try) string {
		return t.Want(t.Get("/git/ref/heads/%s", url.PathEscape(t.raw.DefaultBranch)), http.StatusOK).Str("object.sha")
	})
}

// commitFile creates a commit with a file on top of another. It changes every line of the file.
func (t *Try) commitFile(parent string) string {
	return t.commit(commitSpec{parent: parent, files: fileOf(parent)}).Str("sha")
}

// fileOf returns the file that the bench's commits change.
func fileOf(content string) map[string]string {
	return map[string]string{mark + ".txt": content + "\n1\n2\n3\n"}
}

// branch creates a branch at a commit and returns its name.
func (t *Try) branch(sha string) string {
	name := t.unique("branch")
	t.ref("refs/heads/"+name, sha)
	return name
}

// ref creates a ref. It is removed later, even if the response is lost.
func (t *Try) ref(ref, sha string) {
	if !t.ok() {
		return
	}
	t.undos = append(t.undos, undoRef(ref))
	t.Want(t.Post("/git/refs", map[string]any{"ref": ref, "sha": sha}), http.StatusCreated)
}

// push updates a branch.
func (t *Try) push(branch, sha string, force bool) Answer {
	return t.Send(http.MethodPatch, "/git/refs/heads/"+branch, map[string]any{"sha": sha, "force": force})
}

// base returns the shared base branch of pull requests.
func (t *Try) base() string {
	return share(t, "base", func(t *Try) string { return t.branch(t.start()) })
}

// sharedCommit returns the commit shared by facts about checks.
func (t *Try) sharedCommit() string {
	return share(t, "commit", func(t *Try) string {
		sha := t.commitFile(t.start())
		t.branch(sha)
		return sha
	})
}

// sharedPull returns the pull request shared by facts that don't change it.
func (t *Try) sharedPull() Pull {
	return share(t, "pull", func(t *Try) Pull { return t.pull(t.base(), nil) })
}

// pull opens a pull request with a new commit.
func (t *Try) pull(base string, more map[string]any) Pull {
	p := Pull{Base: base, Head: t.commitFile(t.start())}
	p.Branch = t.branch(p.Head)
	body := map[string]any{"title": p.Branch, "head": p.Branch, "base": base, "body": "Made by `sia doctor github`."}
	for k, v := range more {
		body[k] = v
	}
	a := t.Want(t.Post("/pulls", body), http.StatusCreated)
	p.Number, p.Node = a.Int("number"), a.Str("node_id")
	t.undoIssueLater(p.Branch, p.Number)
	return p
}

// issue opens an issue and returns its number.
func (t *Try) issue() int64 {
	title := t.unique("issue")
	a := t.Want(t.Post("/issues", map[string]any{"title": title, "body": "Made by `sia doctor github`."}),
		http.StatusCreated)
	t.undoIssueLater(title, a.Int("number"))
	return a.Int("number")
}

// sharedIssue returns the issue that facts share.
func (t *Try) sharedIssue() int64 { return share(t, "issue", (*Try).issue) }

func (t *Try) undoIssueLater(title string, number int64) {
	if number != 0 {
		t.undos = append(t.undos, undoIssue(title, number))
	}
}

// checkRun creates a check run.
func (t *Try) checkRun(sha, name, conclusion string) Answer {
	return t.Want(t.Post("/check-runs", map[string]any{"name": name, "head_sha": sha, "conclusion": conclusion,
		"output": map[string]any{"title": name, "summary": "Made by `sia doctor github`."}}), http.StatusCreated)
}

// status creates a commit status.
func (t *Try) status(sha, context, state string) Answer {
	return t.Want(t.Post("/statuses/"+sha, map[string]any{"state": state, "context": context}), http.StatusCreated)
}

// requireChecks creates a ruleset that requires checks on a branch.
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

// path formats a path.
func path(format string, args ...any) string { return fmt.Sprintf(format, args...) }
