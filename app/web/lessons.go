package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// shownLessons is how many lessons of a repository are shown, the most certain first.
const shownLessons = 200

// sharingWithin bounds how long a page compares a lesson with those of the owner's other repositories.
const sharingWithin = 3 * time.Second

// lessonLine is a lesson with its confidence.
type lessonLine struct {
	lesson.Lesson
	Sure float64 `json:"confidence"` // 0–1
}

func (s *site) lessonLine(l lesson.Lesson) lessonLine {
	return lessonLine{Lesson: l, Sure: l.Confidence(s.Now())}
}

// lessonsPage lists the lessons of a repository.
type lessonsPage struct {
	repoChoice
	All     bool         `json:"all"` // also those no longer in use
	Lessons []lessonLine `json:"lessons"`
	More    int          `json:"more"` // not shown
}

func (s *site) lessons(r *http.Request) (frame, error) {
	c, err := s.choiceOfOne(r)
	if err != nil {
		return frame{}, err
	}
	p := lessonsPage{repoChoice: c, All: r.URL.Query().Get("all") != "", Lessons: []lessonLine{}}
	if c.Repo == 0 {
		return frame{Title: "Lessons", Body: p}, nil
	}
	all, err := s.From.Lessons(r.Context(), c.Repo)
	for _, l := range all {
		if p.All || l.Live() {
			p.Lessons = append(p.Lessons, s.lessonLine(l))
		}
	}
	slices.SortStableFunc(p.Lessons, func(a, b lessonLine) int { return cmp.Compare(b.Sure, a.Sure) })
	p.More = max(0, len(p.Lessons)-shownLessons)
	p.Lessons = p.Lessons[:len(p.Lessons)-p.More]
	return frame{Title: "Lessons", Body: p}, err
}

// lessonPage is one lesson with its evidence.
type lessonPage struct {
	lessonLine
	Where    store.Repository  `json:"-"`
	Evidence []lesson.Evidence `json:"evidence"` // oldest first
	May      bool              `json:"-"`        // the viewer may change or forget it
	Shares   bool              `json:"-"`        // the viewer may also share it, and it can be
	Sharing  string            `json:"-"`        // to who may share it: why it can't be; empty: it can
	Unshares bool              `json:"-"`        // the viewer may take it back, and it is shared
	Edits    bool              `json:"-"`        // the viewer may also edit its text
	Draft    lesson.Draft      `json:"-"`        // content of the form
	Kinds    []lesson.Kind     `json:"-"`        // to choose from
	Wrong    string            `json:"-"`        // why the form was refused
	Stale    bool              `json:"-"`        // the lesson was changed meanwhile
}

func (s *site) lesson(r *http.Request) (frame, error) {
	repo, l, err := s.theLesson(r, viewer.Reads)
	if err != nil {
		return frame{}, err
	}
	return s.lessonFrame(r, repo, l)
}

func (s *site) lessonFrame(r *http.Request, repo store.Repository, l lesson.Lesson) (f frame, err error) {
	v := viewer.From(r.Context())
	p := lessonPage{lessonLine: s.lessonLine(l), Where: repo,
		May:   l.Live() && v.May(repo.ID, viewer.Writes),
		Edits: l.Editable() && v.May(repo.ID, viewer.Writes), Draft: lesson.DraftOf(l), Kinds: lesson.Kinds}
	if l.Live() && v.Administers(repo.Installation) {
		p.Sharing, p.Unshares, err = s.sharing(r.Context(), repo, l.ID)
		p.Shares = p.Sharing == ""
	}
	if err != nil {
		return f, err
	}
	p.Evidence, err = s.From.LessonEvidence(r.Context(), repo.ID, l.ID)
	return frame{Title: "A lesson of " + repo.String(), Body: p}, err
}

// sharing is the reason why a lesson can't be shared with the owner's other repositories, such as that it is already;
// empty: it can be. If it takes too long to compare it with theirs, it can be too, and the answer to the request says
// the reason.
func (s *site) sharing(
	ctx context.Context, repo store.Repository, id lesson.ID,
) (why string, already bool, err error) {
	limited, cancel := context.WithTimeout(ctx, sharingWithin)
	defer cancel()
	_, already, err = s.Lessons.Shareable(limited, repo.Installation, id)
	var refused lesson.Refused
	switch {
	case errors.As(err, &refused):
		return "It can't be shared with the owner's other repositories: " + string(refused) + ".", false, nil
	case limited.Err() != nil:
		return "", false, ctx.Err()
	case already:
		return "It is shared with the owner's other repositories.", true, nil
	}
	return "", false, err
}

func (s *site) theLesson(r *http.Request, role viewer.Role) (repo store.Repository, l lesson.Lesson, err error) {
	if repo, err = s.theRepository(r, role); err != nil {
		return repo, l, err
	}
	l, err = s.From.Lesson(r.Context(), repo.ID, lesson.ID(r.PathValue("id")))
	return repo, l, err
}

// changeLesson edits or forgets a lesson, as an edit of its file on the memory branch does, or shares it with the
// owner's other repositories, or takes that back.
func (s *site) changeLesson(r *http.Request) (note, error) {
	repo, l, err := s.theLesson(r, viewer.Writes)
	if err != nil {
		return note{}, err
	}
	by := viewer.From(r.Context())
	n := note{back: lessonPath(repo, l.ID)}
	switch r.PostForm.Get("do") {
	case "edit":
		return s.editLesson(r, repo, l)
	case "forget":
		n.text, err = s.Do.Teach(r.Context(), by.By(), repo, sia.Teach{Forget: string(l.ID)})
	case "share", "unshare":
		if !by.Administers(repo.Installation) {
			return n, badRequest("Only who administers the whole installation shares a lesson among its repositories.")
		}
		share := s.share
		if r.PostForm.Get("do") == "unshare" {
			share = s.unshare
		}
		n.text, err = share(r, repo.Installation, l.ID, by.Actor.Login)
	default:
		err = badRequest("There is no such button. Load the page again.")
	}
	return n, err
}

// editLesson replaces a lesson's text with a person's. A refused text stays in the form. If the lesson was changed
// meanwhile, the page shows both versions, and sending the form again replaces the newer one.
func (s *site) editLesson(r *http.Request, repo store.Repository, l lesson.Lesson) (note, error) {
	form := r.PostForm.Get
	d := lesson.Draft{Seen: form("seen"), Text: form("text"), Context: form("when"), Correction: form("corrects"),
		Action: form("done"), Outcome: form("came"), Kind: lesson.Kind(form("kind")), Archived: form("archived") != "",
		Tags: form("tags"), Tools: form("tools")}
	now, err := s.Do.EditLesson(r.Context(), viewer.From(r.Context()).By(), repo, l.ID, d)
	var stale *lesson.StaleError
	var refused lesson.Refused
	status, wrong := http.StatusUnprocessableEntity, ""
	switch {
	case errors.As(err, &stale):
		l, d.Seen, status = stale.Now, stale.Now.Version(), http.StatusConflict
	case errors.As(err, &refused):
		wrong = string(refused)
	case err != nil:
		return note{}, err
	default:
		return note{text: render.LessonEdited(now), back: lessonPath(repo, now.ID)}, nil
	}
	f, err := s.lessonFrame(r, repo, l)
	if p, ok := f.Body.(lessonPage); ok {
		p.Draft, p.Wrong, p.Stale, p.Edits = d, wrong, stale != nil, true // also for a forgotten one: no text is lost
		f.Body = p
	}
	return note{again: &again{status, "lesson", f}}, err
}

func lessonPath(repo store.Repository, id lesson.ID) string {
	return "/lessons/" + strconv.FormatInt(repo.ID, 10) + "/" + string(id)
}

// share shares a lesson and returns the result for people.
func (s *site) share(r *http.Request, installation int64, id lesson.ID, by string) (string, error) {
	_, isNew, err := s.Lessons.Share(r.Context(), installation, id, cmp.Or(by, "whoever runs the server"))
	var refused lesson.Refused
	switch {
	case errors.As(err, &refused):
		return "It is not shared: " + string(refused) + ".", nil
	case err != nil:
		return "", err
	case !isNew:
		return "It is shared already.", nil
	}
	return "Shared: every repository of the owner gets it from its next attempt on.", nil
}

// unshare takes a shared lesson back and returns the result for people.
func (s *site) unshare(r *http.Request, installation int64, id lesson.ID, by string) (string, error) {
	shared, already, err := s.Lessons.Shareable(r.Context(), installation, id)
	var out store.Unshared
	if err == nil && already {
		_, out, err = s.Lessons.Unshare(r.Context(), installation, shared.Lesson.ID, by)
	}
	if errors.As(err, new(lesson.Refused)) || err == nil && !already { // maybe since a moment ago
		return "It is not shared.", nil
	}
	return fmt.Sprintf("Taken back. Copies in other repositories: %d removed that were not tried, %d archived that did "+
		"not help, %d kept that helped.", out.Removed, out.Archived, out.Kept), err
}
