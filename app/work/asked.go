package work

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/command"
	"github.com/sia-bot/sia/sia/text"
)

// Limits of the review content in an attempt's input.
const (
	maxThreads        = 50
	maxOtherUsers     = 50      // users in threads checked for permission, besides requesters
	maxThreadComments = 30      // last comments of a thread
	commentLimit      = 4000    // bytes of a comment
	maxCodeLines      = 20      // last lines of code of a thread
	searchedFileLimit = 1 << 20 // bytes of a file in which lines are searched
)

// readRequests returns what users request on the pull request at present, oldest first, as much as fits into a prompt;
// nil: nothing. Only comments of users with the required permission count, and SIA's answers to them.
func (w *startWorker) readRequests(ctx context.Context, t sia.Task, set sia.Settings) (*sia.Asked, error) {
	if len(t.Wishes) == 0 || t.Pull.Number == 0 {
		return nil, nil //nolint:nilnil // nothing is requested
	}
	reviews, comments, err := w.readReviews(ctx, t)
	if err != nil {
		return nil, err
	}
	say := w.accessChecker(t, set)
	var out sia.Asked
	full := false
	for _, wish := range t.Wishes {
		review := reviews[wish.Review]
		given, rest := 0, 0
		add := func(words []sia.Said, threads []sia.Thread) {
			next := sia.Asked{Words: slices.Concat(out.Words, words), Threads: slices.Concat(out.Threads, threads)}
			full = full || len(next.Words)+len(next.Threads) > 1 &&
				(len(next.Threads) > maxThreads || agent.AskedSize(next) > agent.MaxAsked)
			if full {
				rest++
				return
			}
			given++
			out.Words, out.Threads = next.Words, next.Threads
		}
		if said := review.said(wish); said.Text != "" && len(wish.Answered) == 0 {
			add([]sia.Said{said}, nil)
		}
		for _, comments := range threadsOf(comments, review.id, wish.Thread) {
			first := comments[0].ID
			switch {
			case slices.Contains(t.Settled, first) || slices.Contains(wish.Answered, first):
				continue
			case slices.ContainsFunc(out.Threads, func(o sia.Thread) bool { return o.ID == first }):
				given++
				continue
			}
			thread, ok, err := w.thread(ctx, t, comments, say)
			if err != nil {
				return nil, err
			}
			if ok {
				add(nil, []sia.Thread{thread})
			}
		}
		if given > 0 || rest == 0 {
			out.Wishes = append(out.Wishes, wish.ID)
		}
		if rest > 0 {
			out.Rest = append(out.Rest, wish.ID)
		}
	}
	return &out, nil
}

// requestedReview is a review that requests changes.
type requestedReview struct {
	id   int64 // 0: there is none, or it was dismissed
	by   string
	text string // without commands
}

// said returns the text of a request outside of threads; its Text is empty if there is none.
func (v requestedReview) said(wish sia.Wish) sia.Said {
	switch {
	case wish.Review != 0:
		return sia.Said{By: v.by, Text: text.Clip(v.text, commentLimit)}
	case wish.Thread != 0:
		return sia.Said{}
	}
	return sia.Said{By: wish.By.Login, Text: text.Clip(wish.Text, commentLimit)}
}

// readReviews returns the reviews that requests of the task refer to, by id, and if there are such reviews or requests
// in threads, all comments on lines of the pull request.
func (w *startWorker) readReviews(ctx context.Context, t sia.Task) (
	reviews map[int64]requestedReview, comments []github.ReviewComment, err error,
) {
	reviews, inThreads := map[int64]requestedReview{}, false
	for _, wish := range t.Wishes {
		if wish.Review != 0 {
			reviews[wish.Review] = requestedReview{id: wish.Review}
		}
		inThreads = inThreads || wish.Thread != 0
	}
	if len(reviews) > 0 {
		all, err := w.repo(t).Reviews(ctx, t.Pull.Number)
		if err != nil {
			return nil, nil, err
		}
		self, err := w.GitHub.Self(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, v := range all {
			switch _, is := reviews[v.ID]; {
			case !is:
			case v.State == "DISMISSED":
				delete(reviews, v.ID)
			default:
				reviews[v.ID] = requestedReview{v.ID, v.Author, commentText(v.Body, false, self.Slug)}
			}
		}
	}
	if len(reviews) > 0 || inThreads {
		comments, err = w.repo(t).ReviewComments(ctx, t.Pull.Number, time.Time{})
	}
	return reviews, comments, err
}

// threadsOf returns the threads that contain a comment of a review, or a comment; 0 stands for none. The first comment
// of each thread comes first.
func threadsOf(all []github.ReviewComment, review, comment int64) (threads [][]github.ReviewComment) {
	of := map[int64][]github.ReviewComment{}
	var order []int64
	asked := map[int64]bool{}
	for _, c := range all {
		root := c.ID
		if c.ReplyTo != 0 {
			root = c.ReplyTo
		}
		if of[root] == nil {
			order = append(order, root)
		}
		of[root] = append(of[root], c)
		asked[root] = asked[root] || review != 0 && c.Review == review || c.ID == comment
	}
	for _, root := range order {
		if asked[root] && of[root][0].ID == root { // otherwise its first comment was deleted, and it can't be answered
			threads = append(threads, of[root])
		}
	}
	return threads
}

// accessChecker returns a function that reports whether a user has the required permission. It asks GitHub once per
// user: for all who requested something, and for the first maxOtherUsers others. Since strangers can be many, it
// returns false for the rest.
func (w *startWorker) accessChecker(
	t sia.Task, set sia.Settings,
) func(ctx context.Context, login string) (bool, error) {
	known, wishes, others := map[string]bool{}, map[string]bool{}, 0
	for _, wish := range t.Wishes {
		wishes[wish.By.Login] = true
	}
	return func(ctx context.Context, login string) (bool, error) {
		if ok, asked := known[login]; asked {
			return ok, nil
		}
		if strings.HasSuffix(login, "[bot]") {
			known[login] = set.Access.Obeys(login)
			return known[login], nil
		}
		if !wishes[login] {
			if others == maxOtherUsers {
				return false, nil
			}
			others++
		}
		have, err := w.repo(t).Permission(ctx, login)
		if err != nil {
			return false, err
		}
		known[login] = sia.Covers(have, set.Access.CommandPermission)
		return known[login], nil
	}
}

// thread converts a thread for an attempt's input; false: no user with the required permission commented in it.
func (w *startWorker) thread(
	ctx context.Context, t sia.Task, comments []github.ReviewComment, say func(context.Context, string) (bool, error),
) (out sia.Thread, _ bool, err error) {
	self, err := w.GitHub.Self(ctx)
	if err != nil {
		return out, false, err
	}
	first := comments[0]
	out = sia.Thread{ID: first.ID, Path: first.Path, First: first.First, Last: first.Last, Old: first.Old}
	heard := false
	for _, c := range comments {
		own := c.Author == self.Login
		ok := own
		if !own {
			if ok, err = say(ctx, c.Author); err != nil {
				return out, false, err
			}
			heard = heard || ok
		}
		if !ok {
			continue
		}
		if s, found := suggestion(c.Body); found && !own {
			out.Suggestion = &s
		}
		if words := commentText(c.Body, own, self.Slug); words != "" {
			out.Said = append(out.Said, sia.Said{By: c.Author, Text: text.Clip(words, commentLimit), Own: own})
		}
	}
	if n := len(out.Said); n > maxThreadComments {
		out.Said = out.Said[n-maxThreadComments:]
	}
	seen := commentedLines(first)
	out.Seen = strings.Join(seen[max(0, len(seen)-maxCodeLines):], "\n")
	if out.Last == 0 && first.Lines > 0 && !out.Old {
		out.First, out.Last, err = w.findMovedLines(ctx, t, first.Path, seen)
	}
	return out, heard, err
}

// commentText returns the text of a comment without commands. It returns "" for commands that request something else.
// Of SIA's own comments it returns the result of an earlier round.
func commentText(body string, own bool, slug string) string {
	if own {
		m, ok := render.ParseMarker(body)
		switch _, rest, _ := strings.Cut(body, "\n"); {
		case !ok: // a remark of a final review that a user answered
			return strings.TrimSpace(body)
		case m.Kind == string(sia.DoRespond):
			return strings.TrimSpace(rest)
		}
		return ""
	}
	p, addressed := command.Parse(body, slug)
	switch f := p.Fact.(type) {
	case sia.Start:
		return f.Text
	case sia.AnswerGiven:
		return f.Text
	}
	if addressed {
		return ""
	}
	return strings.TrimSpace(body)
}

// commentedLines returns the lines that a comment refers to, from the side of its hunk that it is on.
func commentedLines(c github.ReviewComment) []string {
	other := "-"
	if c.Old {
		other = "+"
	}
	var lines []string
	for _, l := range strings.Split(c.Hunk, "\n") {
		if l != "" && !strings.HasPrefix(l, "@@") && !strings.HasPrefix(l, other) && !strings.HasPrefix(l, `\`) {
			lines = append(lines, strings.TrimSuffix(l[1:], "\r"))
		}
	}
	return lines[max(0, len(lines)-c.Lines):]
}

// findMovedLines returns the present position of moved lines at the branch's head, if their text occurs exactly once.
// It returns 0, 0 otherwise.
func (w *startWorker) findMovedLines(
	ctx context.Context, t sia.Task, path string, seen []string,
) (first, last int, err error) {
	if t.Head == "" || len(seen) == 0 || strings.TrimSpace(strings.Join(seen, "")) == "" {
		return 0, 0, nil
	}
	content, err := w.mirror(t).ReadFile(ctx, string(t.Head), path, searchedFileLimit)
	if err != nil {
		return 0, 0, ignoreMissing(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
	for i := 0; i+len(seen) <= len(lines); i++ {
		if !slices.Equal(lines[i:i+len(seen)], seen) {
			continue
		}
		if first != 0 {
			return 0, 0, nil // not unique
		}
		first, last = i+1, i+len(seen)
	}
	return first, last, nil
}

// suggestion returns the replacement that a comment suggests for its lines, without the last newline.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/commenting-on-a-pull-request
func suggestion(body string) (replacement string, found bool) {
	var fence string
	var lines []string
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		ticks := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3 && strings.TrimSpace(bare[len(ticks):]) == "suggestion":
			fence = ticks
		case fence != "" && len(ticks) >= len(fence) && bare == ticks:
			return strings.Join(lines, "\n"), true
		case fence != "":
			lines = append(lines, line)
		}
	}
	return "", false
}
