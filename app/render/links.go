package render

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// Links holds base addresses, without a slash at the end.
type Links struct {
	Web  string // SIA's pages; "" when there are none
	Host string // https://github.com, or the address of a GitHub Enterprise Server
}

// Issue is the address of an issue, or of a pull request, which GitHub redirects.
func (l Links) Issue(r sia.Repo, n int) string { return l.repo(r) + fmt.Sprintf("/issues/%d", n) }

// Comment is the address of a comment on an issue.
func (l Links) Comment(r sia.Repo, issue int, id int64) string {
	return l.Issue(r, issue) + fmt.Sprintf("#issuecomment-%d", id)
}

// Pull is the address of a pull request.
func (l Links) Pull(r sia.Repo, n int) string { return l.repo(r) + fmt.Sprintf("/pull/%d", n) }

// Branch is the address of a branch's tree.
func (l Links) Branch(r sia.Repo, branch string) string {
	return l.repo(r) + "/tree/" + segments(branch)
}

// Commit is the address of a commit.
func (l Links) Commit(r sia.Repo, sha sia.SHA) string {
	return l.repo(r) + "/commit/" + url.PathEscape(string(sha))
}

// Line is the address of a line of a file at a commit.
func (l Links) Line(r sia.Repo, sha sia.SHA, path string, line int) string {
	return l.File(r, sha, path) + fmt.Sprintf("#L%d", line)
}

// File is the address of a file at a commit.
func (l Links) File(r sia.Repo, sha sia.SHA, path string) string {
	return l.repo(r) + "/blob/" + url.PathEscape(string(sha)) + "/" + segments(path)
}

// Compare is the address of the comparison of two commits.
func (l Links) Compare(r sia.Repo, from, to sia.SHA) string {
	return l.repo(r) + "/compare/" + url.PathEscape(string(from)) + "..." + url.PathEscape(string(to))
}

// Memory is the address of the task's memory file.
func (l Links) Memory(t sia.Task) string {
	return l.memory(t) + fmt.Sprintf("/.sia/tasks/%d.md", t.Issue)
}

// Transcript is the address of an attempt's transcript.
func (l Links) Transcript(t sia.Task, attempt int) string {
	return l.memory(t) + fmt.Sprintf("/.sia/transcripts/%d/%d.md", t.Issue, attempt)
}

// Task is the address of the task's page, or "" when SIA has no pages.
func (l Links) Task(id sia.TaskID) string {
	if l.Web == "" {
		return ""
	}
	return l.Web + "/tasks/" + url.PathEscape(string(id))
}

func (l Links) repo(r sia.Repo) string {
	return l.Host + "/" + url.PathEscape(r.Owner) + "/" + url.PathEscape(r.Name)
}

func (l Links) memory(t sia.Task) string {
	branch := t.Settings.Memory.Branch
	if branch == "" {
		branch = sia.DefaultSettings().Memory.Branch
	}
	return l.repo(t.Repo) + "/blob/" + segments(branch)
}

func segments(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// link returns words as a link, or the words alone when address is not a plain http or https address: addresses of
// commit statuses come from strangers.
func link(words, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return words
	}
	a := u.String()
	if strings.ContainsAny(a, " \t\r\n<>()[]\\`\"'|@") || len(a) > 2000 {
		return words
	}
	return "[" + words + "](" + a + ")"
}
