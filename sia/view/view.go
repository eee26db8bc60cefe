// Package view has the types of what SIA shows on GitHub and reads there, in GitHub's terms: check runs with their
// annotations and buttons, labels, and comments on lines. Limits are GitHub's.
package view

// CheckRun is the visible content of a check run.
//
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
type CheckRun struct {
	Status      string       // queued, in_progress or completed
	Conclusion  string       // success, failure, neutral, cancelled or action_required; only when completed
	Title       string       // plain text, required
	Summary     string       // Markdown, at most 65,535 characters
	Text        string       // Markdown, at most 65,535 characters
	Annotations []Annotation // at most 50, the limit of one request; GitHub appends annotations, and never replaces them
	Actions     []Action     // at most 3
}

// Annotation is a remark of a check on a line of a file.
type Annotation struct {
	Path    string // from the repository's root
	Line    int    // 1-based; 0 when unknown
	Level   string // failure, warning or notice
	Title   string // at most 255 characters
	Message string // at most 64 kB
}

// Action is a button on a check run.
type Action struct {
	Label       string // at most 20 characters
	Description string // at most 40 characters
	Identifier  string // at most 20 characters; GitHub returns it in check_run.requested_action
}

// Label is a label of a repository.
type Label struct {
	Name        string
	Color       string // six hexadecimal digits, without #
	Description string // at most 100 characters
}

// LineComment is a review comment on a line of a pull request's diff.
type LineComment struct {
	Path string
	Line int  // 1-based
	Old  bool // it is a deleted line, on the base's side
	Body string
}
