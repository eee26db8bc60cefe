package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/view"
)

// asks lists all of the app's requests to GitHub, and the writes that return what they created.
func asks(w *wire) map[string]func(context.Context) error {
	a, r := w.app, w.repo()
	const marker = "<!-- sia:v1 task=1-1 kind=status key=1 -->"
	spec := CheckRunSpec{Name: "SIA", HeadSHA: "abc", ExternalID: "1",
		CheckRun: view.CheckRun{Status: "in_progress", Title: "t"}}
	since := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	return map[string]func(context.Context) error{
		"hook":           func(ctx context.Context) error { _, err := a.Hook(ctx); return err },
		"self":           func(ctx context.Context) error { _, err := a.Self(ctx); return err },
		"subscriptions":  func(ctx context.Context) error { _, err := a.Subscriptions(ctx); return err },
		"installations":  func(ctx context.Context) error { _, err := a.Installations(ctx); return err },
		"installation":   func(ctx context.Context) error { _, _, err := a.Installation(ctx, 1); return err },
		"coverage":       func(ctx context.Context) error { _, _, err := a.InstallationOn(ctx, shop); return err },
		"repositories":   func(ctx context.Context) error { _, err := a.Repositories(ctx, 1); return err },
		"count":          func(ctx context.Context) error { _, err := a.RepositoryCount(ctx, 1); return err },
		"openings":       func(ctx context.Context) error { _, _, err := a.Openings(ctx, 1, 10); return err },
		"latest tries":   func(ctx context.Context) error { _, err := a.LatestDeliveries(ctx); return err },
		"failed tries":   func(ctx context.Context) error { _, _, err := a.FailedDeliveries(ctx, since); return err },
		"answered tries": func(ctx context.Context) error { _, _, err := a.AnsweredDeliveries(ctx, since, ""); return err },
		"raw":            func(ctx context.Context) error { _, err := a.Raw(ctx, shop); return err },
		"repository":     func(ctx context.Context) error { _, err := r.Repository(ctx); return err },
		"by its id":      func(ctx context.Context) error { _, err := r.ByID(ctx); return err },
		"workflow files": func(ctx context.Context) error { _, err := r.MayChangeWorkflows(ctx); return err },
		"default head":   func(ctx context.Context) error { _, _, err := r.DefaultHead(ctx); return err },
		"merge base":     func(ctx context.Context) error { _, err := r.MergeBase(ctx, "main", "c0ffee"); return err },
		"head":           func(ctx context.Context) error { _, _, err := r.Head(ctx, "x"); return err },
		"is at":          func(ctx context.Context) error { _, err := r.IsAt(ctx, "x", "b"); return err },
		"permission":     func(ctx context.Context) error { _, err := r.Permission(ctx, "ann"); return err },
		"issue":          func(ctx context.Context) error { _, err := r.Issue(ctx, 1); return err },
		"kept issue": func(ctx context.Context) error {
			_, err := r.EnsureIssue(ctx, 1, NewIssue{Marker: marker, Title: "t"})
			return err
		},
		"changed issues": func(ctx context.Context) error { _, err := r.ChangedIssues(ctx, since); return err },
		"blockers":       func(ctx context.Context) error { _, err := r.OpenBlockers(ctx, 1); return err },
		"editor": func(ctx context.Context) error {
			_, err := r.IsAuthors(ctx, Comment{ID: 1, NodeID: "IC_1"})
			return err
		},
		"comments":  func(ctx context.Context) error { _, err := r.CommentsSince(ctx, 1, since); return err },
		"pull":      func(ctx context.Context) error { _, err := r.Pull(ctx, 1); return err },
		"pull now":  func(ctx context.Context) error { _, _, err := r.Checks.fetchPull(ctx, 1); return err },
		"last word": func(ctx context.Context) error { _, err := r.Checks.FinalState(ctx, 1, "main"); return err },
		"checks":    func(ctx context.Context) error { _, err := r.Checks.Of(ctx, "abc"); return err },
		"look": func(ctx context.Context) error {
			_, err := r.Checks.Look(ctx, LookAt{SHA: "abc", Pull: 1})
			return err
		},
		"look, no pull": func(ctx context.Context) error {
			_, err := r.Checks.Look(ctx, LookAt{SHA: "abc", Branch: "main"})
			return err
		},
		"workflows":   func(ctx context.Context) error { _, _, err := r.Actions.Workflows(ctx, "abc"); return err },
		"attempts":    func(ctx context.Context) error { _, err := r.Actions.Attempts(ctx, 1); return err },
		"annotations": func(ctx context.Context) error { _, err := r.Checks.Annotations(ctx, 1); return err },
		"failed step": func(ctx context.Context) error {
			_, err := r.Actions.FailedStep(ctx, CheckRun{JobID: 1})
			return err
		},
		"artifacts":    func(ctx context.Context) error { _, err := r.Actions.Artifacts(ctx, 1); return err },
		"required":     func(ctx context.Context) error { _, err := r.Rules.Required(ctx, "main"); return err },
		"commit rules": func(ctx context.Context) error { _, err := r.Rules.OnCommits(ctx, "main"); return err },
		"closing": func(ctx context.Context) error {
			_, err := r.Closing(ctx, ClosingAt{Issue: 1, Commit: "abc", Since: since, Branch: "main"})
			return err
		},
		"commit": func(ctx context.Context) error { _, err := r.Commit(ctx, "abc"); return err },
		"file":   func(ctx context.Context) error { _, _, err := r.File(ctx, "abc", "a.yml", 100); return err },
		"top":    func(ctx context.Context) error { _, err := r.Names(ctx, "abc", "."); return err },
		"folder": func(ctx context.Context) error { _, err := r.Dir(ctx, "abc", "a"); return err },
		"open issue": func(ctx context.Context) error {
			_, err := r.CreateIssue(ctx, NewIssue{Marker: marker, Title: "t"})
			return err
		},
		"comment": func(ctx context.Context) error {
			_, err := r.UpsertComment(ctx, 1, marker, "b", 0)
			return err
		},
		"edit a comment": func(ctx context.Context) error { _, _, err := r.EditComment(ctx, 5, marker, "b"); return err },
		"check run":      func(ctx context.Context) error { _, err := r.CheckRuns.Upsert(ctx, spec, 0); return err },
		"open pull": func(ctx context.Context) error {
			_, err := r.EnsurePull(ctx, NewPull{Head: "h", Base: "main", Title: "t"})
			return err
		},
		"make a commit": func(ctx context.Context) error {
			_, err := r.CreateCommit(ctx, NewCommit{Tree: "t", Message: "m"})
			return err
		},
		"issue or gone":   func(ctx context.Context) error { _, _, err := r.IssueOrGone(ctx, 1); return err },
		"close an issue":  func(ctx context.Context) error { return r.CloseIssue(ctx, Issue{Number: 1}, "completed") },
		"comments of all": func(ctx context.Context) error { _, err := r.CommentsEverywhere(ctx, since); return err },
		"review comments": func(ctx context.Context) error { _, err := r.ReviewComments(ctx, 1, since); return err },
		"reviews":         func(ctx context.Context) error { _, err := r.Reviews(ctx, 1); return err },
		"thread of":       func(ctx context.Context) error { _, err := r.ThreadOf(ctx, 1); return err },
		"review": func(ctx context.Context) error {
			_, err := r.EnsureReview(ctx, 1, marker, NewReview{Head: "abc", Body: "b"}, Unwritten)
			return err
		},
		"answer in a thread": func(ctx context.Context) error {
			return r.AnswerThreads(ctx, 1, []Answer{{Thread: 1, Marker: marker, Body: "b"}}, Unwritten)
		},
		"any pull":  func(ctx context.Context) error { _, _, err := r.AnyPull(ctx, "h"); return err },
		"edit pull": func(ctx context.Context) error { return r.EditPull(ctx, 1, "b") },
		"merge":     func(ctx context.Context) error { _, _, err := r.Merge(ctx, 1, "abc"); return err },
		"reactions": func(ctx context.Context) error { _, err := r.Reactions(ctx, 1); return err },
		"labels":    func(ctx context.Context) error { return r.EnsureLabels(ctx, []view.Label{{Name: "sia"}}) },
		"swap labels": func(ctx context.Context) error {
			err := r.SwapLabels(ctx, 1, []string{"a"}, []string{"b"})
			return err
		},
		"move a label":   func(ctx context.Context) error { return r.MoveLabel(ctx, 1, "", "b") },
		"required now":   func(ctx context.Context) error { _, err := r.Rules.FetchRequired(ctx, "main"); return err },
		"edit check run": func(ctx context.Context) error { _, err := r.CheckRuns.Edit(ctx, spec, 1); return err },
		"mark a draft":   func(ctx context.Context) error { return r.MarkDraft(ctx, "PR_1") },
		"job log": func(ctx context.Context) error {
			_, err := r.Actions.JobLog(ctx, CheckRun{JobID: 1})
			return err
		},
		"artifact": func(ctx context.Context) error {
			_, err := r.Actions.ArtifactZip(ctx, Artifact{ID: 1}, 10)
			return err
		},
		"author":     func(ctx context.Context) error { _, err := a.Author(ctx, since); return err },
		"mark ready": func(ctx context.Context) error { return r.MarkReady(ctx, "PR_1") },
		"close":      func(ctx context.Context) error { return r.Close(ctx, 1) },
		"react":      func(ctx context.Context) error { return r.React(ctx, sia.Origin{OnIssue: 1}, "eyes") },
	}
}

// peopleAsk lists all requests to GitHub as a user, or without an app.
func peopleAsk(t *testing.T, api string) map[string]func(context.Context) error {
	t.Helper()
	p, err := NewPeople(api, nil)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(context.Context) error{
		"who":      func(ctx context.Context) error { _, err := p.Who(ctx, "t"); return err },
		"reach":    func(ctx context.Context) error { _, _, err := p.Reach(ctx, "t", 3); return err },
		"register": func(ctx context.Context) error { _, err := Register(ctx, api, "code"); return err },
	}
}

// For any request, a successful response with a message instead of the object is a transient error.
func TestWordsInsteadOfWhatWasAskedFor(t *testing.T) {
	for name, body := range map[string]string{
		"words instead":  `{"message":"Server Error"}`,
		"words and more": `{"message":"Server Error","documentation_url":"https://docs.github.com","status":"500"}`,
	} {
		for _, what := range keys(asks(start(t, "/"))) {
			t.Run(what+", "+name, func(t *testing.T) {
				w := startAnswering(t, body)
				err := asks(w)[what](t.Context())
				var known *sia.Error
				if err == nil || errors.As(err, &known) && known.Permanent {
					t.Errorf("got %v", err)
				}
				if err != nil && known == nil {
					t.Errorf("no words for people: %v", err)
				}
			})
		}
	}
}

func keys[V any](m map[string]V) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	return all
}

// startAnswering starts a GitHub that issues tokens and answers all other requests with one body. It has no GraphQL.
func startAnswering(t *testing.T, body string) *wire {
	t.Helper()
	w := start(t, "/")
	mux := http.NewServeMux()
	mux.HandleFunc("POST /app/installations/{id}/access_tokens", w.mint)
	mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 200, body) })
	w.ServeMux = mux
	return w
}

// A message instead of the object is not cached.
func TestWordsAreNotKept(t *testing.T) {
	w := start(t, "/")
	n := 0
	w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, req *http.Request) {
		n++
		rw.Header().Set("ETag", `"1"`)
		switch {
		case n == 1:
			answer(rw, 200, `{"message":"Server Error"}`)
		case req.Header.Get("If-None-Match") == `"1"`:
			rw.WriteHeader(http.StatusNotModified)
		default:
			answer(rw, 200, issue12)
		}
	})
	if _, err := w.repo().Issue(t.Context(), 12); err == nil || !strings.Contains(err.Error(), "Server Error") {
		t.Errorf("got %v", err)
	}
	if _, err := w.repo().Issue(t.Context(), 12); err != nil {
		t.Errorf("for ever: %v", err)
	}
}
