package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/view"
)

// sync makes GitHub show the task's present state: one status comment, one label, one check run per head, and the pull
// request's text. The last content written is stored, so that nothing is written twice. A failed write does not prevent
// the others.
func (w *surfaceWorker) sync(ctx context.Context, t sia.Task, _ sia.Effect) (sia.Fact, error) {
	writes := []func(context.Context, sia.Task) error{w.syncStatus, w.syncLabels, w.syncCheck, w.syncPull}
	if t.IssueGone {
		writes = append(writes[2:], w.syncTransferred) // the others concern the issue
	}
	var failed error
	for _, write := range writes {
		// If a retry may solve one failure, the whole is retried, even if another is permanent.
		if err := write(ctx, t); err != nil && (failed == nil || sia.IsPermanent(failed)) {
			failed = err
		}
	}
	if failed != nil {
		return nil, failed
	}
	return sia.SyncDone{Version: t.Version}, nil
}

// maxRepairs limits the rewrites of a task that changes meanwhile; the next round continues.
const maxRepairs = 5

// repair implements [Worker.Repair].
func (w *surfaceWorker) repair(ctx context.Context, t sia.Task) error {
	for range maxRepairs {
		for _, kind := range []string{store.SurfaceStatus, store.SurfaceLabels} {
			// Without a stored hash, each is searched and compared before it is written.
			if err := w.Store.SaveSurface(ctx, t.ID, kind, 0, ""); err != nil {
				return err
			}
		}
		if _, err := w.sync(ctx, t, sia.Effect{}); err != nil {
			return err
		}
		// What an effect wrote meanwhile is newer, and may have been overwritten.
		shown := t.Visible
		var err error
		if t, err = w.Store.Task(ctx, t.ID); err != nil || t.Visible == shown {
			return err
		}
	}
	return nil
}

// writeSurface writes one surface unless it already has the content.
func (w *surfaceWorker) writeSurface(
	ctx context.Context, t sia.Task, kind, content string, write func(known int64) (int64, error),
) error {
	hash := hashOf([]byte(content))
	id, last, err := w.Store.Surface(ctx, t.ID, kind)
	if err != nil || last == hash {
		return err
	}
	if id, err = write(id); err != nil {
		return err
	}
	return w.Store.SaveSurface(ctx, t.ID, kind, id, hash)
}

// hashOf identifies written content.
func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

func (w *surfaceWorker) syncStatus(ctx context.Context, t sia.Task) error {
	body := render.Status(t, w.Links, w.Now())
	m := render.Marker{Task: t.ID, Kind: store.SurfaceStatus, Key: string(t.ID)}
	return w.writeSurface(ctx, t, store.SurfaceStatus, body, func(known int64) (int64, error) {
		if known != 0 {
			if c, ok, err := w.repo(t).EditComment(ctx, known, m.String(), body); err != nil || ok {
				return c.ID, err
			}
		}
		c, err := w.repo(t).UpsertComment(ctx, t.Issue, m.String(), body, w.knownSince(m.String(), t.CreatedAt))
		return c.ID, err
	})
}

// syncLabels updates the task's only state label. The stored value is the label's name; if it is empty, all other state
// labels are removed.
func (w *surfaceWorker) syncLabels(ctx context.Context, t sia.Task) error {
	want := render.LabelFor(t)
	_, last, err := w.Store.Surface(ctx, t.ID, store.SurfaceLabels)
	if err != nil || last == want {
		return err
	}
	if last != "" || len(t.Attempts) == 0 {
		err = w.repo(t).MoveLabel(ctx, t.Issue, last, want)
	} else {
		others := slices.DeleteFunc(render.StateLabels(), func(l string) bool { return l == want })
		err = w.repo(t).SwapLabels(ctx, t.Issue, []string{want}, others)
	}
	if err != nil {
		return err
	}
	return w.Store.SaveSurface(ctx, t.ID, store.SurfaceLabels, 0, want)
}

// syncTransferred updates comment and label of a transferred issue to show that the task has ended. If the app may not
// write there, they stay.
func (w *surfaceWorker) syncTransferred(ctx context.Context, t sia.Task) error {
	at := t.Transferred
	if at == nil {
		return nil
	}
	body := render.Transferred(t, w.Links)
	return w.writeSurface(ctx, t, store.SurfaceStatus, body, func(int64) (int64, error) {
		m := render.Marker{Task: t.ID, Kind: store.SurfaceStatus, Key: string(t.ID)}
		there := w.GitHub.Repo(t.Installation, at.Repo)
		c, err := there.UpsertComment(ctx, at.Issue, m.String(), body, 0)
		if err == nil {
			err = there.SwapLabels(ctx, at.Issue, nil, render.StateLabels())
		}
		if sia.IsPermanent(err) {
			w.Logger.InfoContext(ctx, "a transferred issue is not told that its task has ended", "task", t.ID, "to",
				at.Repo.String(), "error", err)
			return 0, nil
		}
		return c.ID, err
	})
}

func (w *surfaceWorker) syncCheck(ctx context.Context, t sia.Task) error {
	if err := w.resetCheck(ctx, t); err != nil {
		return err
	}
	for _, a := range t.Attempts {
		if a.Head == "" || a.Head == t.Head {
			continue
		}
		if err := w.writeCheck(ctx, t, string(a.Head), render.Superseded(t, w.Links)); err != nil {
			return err
		}
	}
	if t.Head == "" {
		return nil
	}
	return w.writeCheck(ctx, t, string(t.Head), render.CheckRun(t, w.locateFailures(ctx, t), w.Links))
}

// resetCheck shows a check run that a user re-requested as in progress, and clears its stored hash, so that it is
// written again.
func (w *surfaceWorker) resetCheck(ctx context.Context, t sia.Task) error {
	if t.Reset == nil {
		return nil
	}
	shown := store.SurfaceCheck + " " + string(t.Reset.SHA)
	return w.writeSurface(ctx, t, shown+" anew", t.Reset.By, func(int64) (int64, error) {
		known, _, err := w.Store.Surface(ctx, t.ID, shown)
		if err != nil || known == 0 {
			return 0, err
		}
		spec := w.checkRunSpec(t, string(t.Reset.SHA), render.CheckRunAgain())
		if known, err = w.showCheck(ctx, t, spec, known); err != nil {
			return 0, err
		}
		return 0, w.Store.SaveSurface(ctx, t.ID, shown, known, "")
	})
}

// syncPull updates the pull request's text if the task waits or has ended; during work the status comment shows the
// progress. If the text described a waiting or ended task that continues, it is updated once per head. The title is not
// changed because users may have edited it.
func (w *surfaceWorker) syncPull(ctx context.Context, t sia.Task) error {
	if t.Pull.Number == 0 || t.Pull.Merged {
		return nil
	}
	kind := fmt.Sprintf("%s %d", store.SurfacePull, t.Pull.Number)
	write := func(content, body string) error {
		return w.writeSurface(ctx, t, kind, content, func(int64) (int64, error) {
			return 0, w.repo(t).EditPull(ctx, t.Pull.Number, body)
		})
	}
	if !t.State.Final() && !t.Waits() {
		if _, written, err := w.Store.Surface(ctx, t.ID, kind); err != nil || written == "" {
			return err
		}
		return write("goes on from "+string(t.Head), render.PullBody(t, w.change(ctx, t), w.Links))
	}
	body := render.PullBody(t, w.change(ctx, t), w.Links)
	return write(body, body)
}

func (w *surfaceWorker) writeCheck(ctx context.Context, t sia.Task, head string, v view.CheckRun) error {
	content, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the check run: %w", err)
	}
	return w.writeSurface(ctx, t, store.SurfaceCheck+" "+head, string(content), func(known int64) (int64, error) {
		return w.showCheck(ctx, t, w.checkRunSpec(t, head, v), known)
	})
}

// showCheck writes the task's check run on a commit. GitHub appends annotations to existing ones, so a hash of those
// sent is stored: this avoids reading the run first.
func (w *surfaceWorker) showCheck(
	ctx context.Context, t sia.Task, spec github.CheckRunSpec, known int64,
) (id int64, err error) {
	if known != 0 {
		annotated, sum, err := w.hasAnnotations(ctx, t, spec, known)
		if err != nil {
			return 0, err
		}
		edit := spec
		if annotated {
			edit.Annotations = nil
		}
		if ok, err := w.repo(t).CheckRuns.Edit(ctx, edit, known); err != nil || ok {
			return known, err
		}
		if id, err = w.repo(t).CheckRuns.Upsert(ctx, spec, known); err != nil || sum == "" {
			return id, err
		}
		return id, w.Store.SaveSurface(ctx, t.ID, annotationsSurface(spec), id, sum)
	}
	known = w.knownSince(string(t.ID)+" "+spec.HeadSHA, pushedAt(t, spec.HeadSHA))
	return w.repo(t).CheckRuns.Upsert(ctx, spec, known)
}

// annotationsSurface returns the surface that stores which annotations a check run has.
func annotationsSurface(spec github.CheckRunSpec) string {
	return store.SurfaceCheck + " " + spec.HeadSHA + " annotations"
}

// hasAnnotations reports whether a check run has a spec's annotations already; sum is their hash, empty for none.
func (w *surfaceWorker) hasAnnotations(
	ctx context.Context, t sia.Task, spec github.CheckRunSpec, run int64,
) (already bool, sum string, err error) {
	if len(spec.Annotations) == 0 {
		return false, "", nil
	}
	b, err := json.Marshal(spec.Annotations)
	if err != nil {
		return false, "", fmt.Errorf("encode annotations: %w", err)
	}
	sum = hashOf(b)
	of, last, err := w.Store.Surface(ctx, t.ID, annotationsSurface(spec))
	return of == run && last == sum, sum, err
}

// pushedAt returns a time before a commit of the task was pushed and after all earlier pushes; zero if no attempt made
// the commit.
func pushedAt(t sia.Task, head string) time.Time {
	for _, a := range t.Attempts {
		if string(a.Head) == head {
			return a.StartedAt
		}
	}
	return time.Time{}
}

// checkRunSpec returns the task's check run on a commit.
func (w *surfaceWorker) checkRunSpec(t sia.Task, head string, v view.CheckRun) github.CheckRunSpec {
	return github.CheckRunSpec{Name: render.CheckName, HeadSHA: head, ExternalID: string(t.ID),
		DetailsURL: w.Links.Task(t.ID), CheckRun: v}
}
