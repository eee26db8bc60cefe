package web_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/web/signin"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// A button or a form gives a command in the viewer's name, and the browser returns to the page, which shows the answer.
func TestWhatPeopleDoIsHeard(t *testing.T) {
	do := &doer{}
	h := pages(t, world(t), do)
	secret := string(lessonOf(bookings))
	for _, c := range []struct {
		who            viewer.Viewer
		to, send, back string
		heard          string
		refused        int // status
	}{
		{who: member(), to: "/tasks/9-4", send: form("do", "pause").Encode(), heard: "ada 9-4 /sia pause",
			back: "/tasks/9-4"},
		{who: member(), to: "/tasks/9-4", send: form("do", "answer", "letter", "B").Encode(), heard: "ada 9-4 /sia answer B"},
		{who: member(), to: "/tasks/9-4", send: form("do", "answer", "letter", "B", "words", "neither\nof them").Encode(),
			heard: "ada 9-4 /sia answer neither\nof them"},
		{who: operator(), to: "/tasks/9-4", send: form("do", "retry", "back", "/escalations").Encode(),
			heard: " 9-4 /sia retry",
			back:  "/escalations"},
		{who: operator(), to: "/tasks/9-4", send: form("do", "stop", "back", "//evil.test").Encode(), heard: " 9-4 /sia stop",
			back: "/tasks/9-4"},
		{who: member(), to: "/tasks/9-4", send: form("do", "answer", "letter", "B", "question", "1").Encode(),
			heard: "ada 9-4 /sia answer B"},
		{who: member(), to: "/tasks/9-4", send: form("do", "answer", "letter", "Z").Encode(), refused: http.StatusBadRequest},
		{who: member(), to: "/tasks/9-4", send: form("do", "start").Encode(), refused: http.StatusBadRequest},
		{who: member(), to: "/tasks/9-4", send: "do=" + strings.Repeat("x", 100_000), refused: http.StatusBadRequest},
		{who: reader(), to: "/tasks/9-4", send: "do=stop",
			refused: http.StatusNotFound},
		{who: member(), to: "/lessons/9/" + secret, send: "do=forget", heard: "ada acme/bookings forget " + secret},
		{who: member(), to: "/lessons/9/" + secret, send: "do=share", refused: http.StatusBadRequest},
		{who: admin(), to: "/lessons/9/" + secret, send: "do=share", heard: "grace share " + secret},
		{who: member(), to: "/installations/1", send: "do=pause", refused: http.StatusNotFound},
		{who: admin(), to: "/installations/1", send: "do=pause", heard: "grace halt"},
		{who: admin(), to: "/installations/1", send: "do=resume", heard: "grace lift"},
		{who: admin(), to: "/installations/1", send: "do=else", refused: http.StatusBadRequest},
	} {
		do.said = nil
		code, location := ask(t, h, c.who, "POST "+c.to, c.send)
		if c.refused != 0 {
			if code != c.refused || len(do.said) > 0 {
				t.Errorf("%s %s: %d, heard %q; want %d", c.to, c.send[:min(60, len(c.send))], code, do.said, c.refused)
			}
			continue
		}
		if d := cmp.Diff([]string{c.heard}, do.said); d != "" || code != http.StatusSeeOther ||
			!strings.HasPrefix(location, c.back+"?note=") && c.back != "" {
			t.Errorf("%s %s: %d to %s: %s", c.to, c.send, code, location, d)
		}
		_, body := ask(t, h, c.who, "GET "+location, "")
		if !strings.Contains(body, `<p class="said" role="status">`) {
			t.Errorf("%s: the answer is not on the page:\n%s", location, body)
		}
	}
	if _, body := ask(t, h, admin(), "GET /tasks/9-4?note=Send+me+money", ""); strings.Contains(body, "money") {
		t.Error("an address puts words into a page")
	}
}

// A form's answer is shown unchanged, whichever of several servers renders the page, and only to the sender.
func TestAnswersPassFromServerToServer(t *testing.T) {
	from := world(t)
	one, other := pages(t, from, &doer{}), pages(t, from, &doer{})
	ada, eve, nobody := member(), member(), member()
	ada.Token, eve.Token, nobody.Token = "ada's token", "eve's token", ""
	const said = `<p class="said" role="status">`
	shown := func(h http.Handler, who viewer.Viewer, address string) bool {
		_, body := ask(t, h, who, "GET "+address, "")
		return strings.Contains(body, said)
	}
	code, address := ask(t, one, ada, "POST /tasks/9-4", form("do", "pause").Encode())
	if code != http.StatusSeeOther || !shown(one, ada, address) || !shown(other, ada, address) {
		t.Errorf("%d to %s: the answer is not on the page", code, address)
	}
	_, of, _ := strings.Cut(address, "?note=")
	changed := []byte(of)
	changed[len(changed)/2] ^= 1
	_, unsigned := ask(t, one, nobody, "POST /tasks/9-4", form("do", "pause").Encode())
	if shown(other, eve, address) || shown(other, ada, "/tasks/9-4?note="+string(changed)) ||
		shown(one, nobody, unsigned) {
		t.Error("words stand on a page that were not said to whoever looks")
	}
}

// An empty answer leads back to the question, with a message.
func TestNoAnswerWasChosen(t *testing.T) {
	do := &doer{}
	h := pages(t, world(t), do)
	for back, from := range map[string][]string{"/tasks/9-4": nil, "/escalations": {"back", "/escalations"}} {
		sent := form(append(from, "do", "answer", "words", " \r\n", "question", "1")...)
		code, location := ask(t, h, member(), "POST /tasks/9-4", sent.Encode())
		if code != http.StatusSeeOther || !strings.HasPrefix(location, back+"?note=") || len(do.said) > 0 {
			t.Fatalf("%d to %s, heard %q", code, location, do.said)
		}
		_, body := ask(t, h, member(), "GET "+location, "")
		if !strings.Contains(body, "Choose one of the answers") || !strings.Contains(body, `name="letter"`) {
			t.Errorf("%s has no reason, or no question:\n%s", location, body)
		}
	}
}

// People who may accept changes of tests see next to the button what was changed, and next to the checks the reason for
// the verdict.
func TestChangesToAcceptAreShown(t *testing.T) {
	s := world(t)
	apply := begun(t, s, 1, bookings, 9, "")
	apply(3, sia.AttemptEnded{End: sia.EndFinished, Commit: "c0ffee", Diff: sia.DiffStat{Files: 1}, Hunks: []uint64{1}})
	apply(4, sia.Pushed{SHA: "c0ffee"})
	apply(5, sia.PullOpened{Number: 109})
	apply(6, sia.Judged{SHA: "c0ffee", Looked: start.Add(6 * time.Minute), Verdict: sia.VerdictTampered, Explain: []string{
		"The branch's rules could not be read, so every check that ran counts.",
		"The attempt changed how it is checked: check.sh:1: failures of checks are ignored: `exit 0 # <b>\u202e`."}})
	do := &doer{}
	h := pages(t, s, do)
	_, page := ask(t, h, member(), "GET /tasks/9-9", "")
	for _, want := range []string{`value="accept-tests"`, "<code>/sia accept-tests</code>",
		"<li><p>The branch&#39;s rules could not be read, so every check that ran counts.</p>",
		"<li><p>check.sh:1: failures of checks are ignored: <code>exit 0 # &lt;b&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "\u202e") {
		t.Error("what turns text around stands on the page")
	}
	ask(t, h, member(), "POST /tasks/9-9", form("do", "accept-tests", "head", "c0ffee").Encode())
	if do.head != "c0ffee" {
		t.Errorf("what is accepted is %q", do.head)
	}
}

// A form on an outdated page has no effect on newer state: an answer is for the question shown, and changes of tests
// are accepted only for the commit shown.
func TestWhatAnOldPageSaysIsOfThen(t *testing.T) {
	do := &doer{}
	h := pages(t, world(t), do)
	_, page := ask(t, h, member(), "GET /tasks/9-4", "")
	for _, field := range []string{`name="question" value="1"`, `name="head" value="`} {
		if !strings.Contains(page, field) {
			t.Errorf("the page lacks %s", field)
		}
	}
	for what, sent := range map[string]string{
		"an answer to another question": form("do", "answer", "letter", "B", "question", "7").Encode(),
		"acceptance of another commit":  form("do", "accept-tests", "head", strings.Repeat("f", 40)).Encode(),
	} {
		code, location := ask(t, h, member(), "POST /tasks/9-4", sent)
		if code != http.StatusSeeOther || len(do.said) != 0 {
			t.Fatalf("%s: %d, heard %q", what, code, do.said)
		}
		if _, body := ask(t, h, member(), "GET "+location, ""); !strings.Contains(body, "Nothing was done") {
			t.Errorf("%s: the page does not say that nothing was done", what)
		}
	}
}

// A cross-site form does nothing.
func TestFormsComeFromThesePages(t *testing.T) {
	do := &doer{}
	srv := httptest.NewServer(signin.Local(pages(t, world(t), do)))
	t.Cleanup(srv.Close)
	jar, err := cookiejar.New(nil)
	must(t, err)
	browser := http.Client{Jar: jar}
	resp, err := browser.Get(srv.URL + "/tasks/9-4")
	must(t, err)
	read, err := io.ReadAll(resp.Body)
	must(t, errors.Join(err, resp.Body.Close()))
	code, page := resp.StatusCode, string(read)
	_, rest, _ := strings.Cut(page, `name="csrf" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	if code != http.StatusOK || token == "" {
		t.Fatalf("%d: no token in\n%s", code, page)
	}
	for sent, want := range map[string]int{"": http.StatusForbidden, "x": http.StatusForbidden, token: http.StatusOK} {
		resp, err := browser.PostForm(srv.URL+"/tasks/9-4", form("do", "pause", "csrf", sent))
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != want {
			t.Errorf("token %q: %d, want %d", sent, resp.StatusCode, want)
		}
	}
	if len(do.said) != 1 {
		t.Errorf("heard: %q", do.said)
	}
	// Oversized text is refused: a command becomes a comment, which has a limit.
	resp, err = browser.PostForm(srv.URL+"/tasks/9-4", form("do", "answer", "words", strings.Repeat("x", 100_000), "csrf",
		token))
	must(t, err)
	must(t, resp.Body.Close())
	if resp.StatusCode != http.StatusRequestEntityTooLarge || len(do.said) != 1 {
		t.Errorf("an endless answer: %d, heard %d times", resp.StatusCode, len(do.said))
	}
}

// A refused edit of a lesson stays in the form, with the reason; after a concurrent edit, both texts are shown.
func TestALessonIsEdited(t *testing.T) {
	do := &doer{}
	h := pages(t, world(t), do)
	address := "/lessons/9/" + string(lessonOf(bookings))
	for name, c := range map[string]struct {
		who    viewer.Viewer
		draft  []string
		status int
		want   []string
	}{
		"taken": {member(), []string{"text", "mine <b>", "seen", "new"}, http.StatusSeeOther, []string{address + "?note="}},
		"empty": {member(), []string{"when", "keep this"}, http.StatusUnprocessableEntity,
			[]string{"It is empty.", "keep this", "<details class=\"box\" id=\"edit\" open>"}},
		"stale": {member(), []string{"text", "mine <b>", "seen", "old"}, http.StatusConflict,
			[]string{"what somebody else wrote", ">mine &lt;b&gt;</textarea>", "Nothing is lost"}},
		"a reader":   {reader(), []string{"text", "mine"}, http.StatusNotFound, nil},
		"a stranger": {stranger(), []string{"text", "mine"}, http.StatusNotFound, nil},
	} {
		do.said = nil
		code, body := ask(t, h, c.who, "POST "+address, form(append(c.draft, "do", "edit")...).Encode())
		if code != c.status || (len(do.said) > 0) != (c.status == http.StatusSeeOther) {
			t.Errorf("%s: %d, heard %q", name, code, do.said)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, body)
			}
		}
	}
	if _, body := ask(t, h, reader(), "GET "+address, ""); strings.Contains(body, "Save") {
		t.Error("who only reads has a form")
	}
}

// Administrators of the whole installation are offered to share a lesson where it can be, and else get the reason.
func TestSharingIsOffered(t *testing.T) {
	const button, back, reason = "Tell it to all repositories of acme", "Take it back from the repositories of acme",
		"It can&#39;t be shared with the owner&#39;s other repositories: nobody else says so."
	do := &doer{}
	h := pages(t, world(t), do)
	for name, c := range map[string]struct {
		who          viewer.Viewer
		refuses      lesson.Refused
		shared       bool
		want, absent string
	}{
		"it can be":   {who: admin(), want: button, absent: "can&#39;t be shared"},
		"it can't be": {who: admin(), refuses: "nobody else says so", want: reason, absent: button},
		"it is":       {who: admin(), shared: true, want: back, absent: button},
		"by a member": {who: member(), want: "Forget it for good", absent: button},
		"not by members": {who: member(), refuses: "nobody else says so", want: "Forget it for good",
			absent: "nobody else"},
	} {
		do.refuses, do.shared = c.refuses, c.shared
		_, page := ask(t, h, c.who, "GET /lessons/9/"+string(lessonOf(bookings)), "")
		if !strings.Contains(page, c.want) || strings.Contains(page, c.absent) {
			t.Errorf("%s:\n%s", name, page)
		}
	}
}

// Administrators of the whole installation take a shared lesson back, also by the page of a copy. Who is second reads
// that it is not shared.
func TestSharedLessonIsTakenBack(t *testing.T) {
	do := &doer{}
	h := pages(t, world(t), do)
	address := "POST /lessons/9/" + string(lessonOf(bookings))
	for _, c := range []struct {
		who    viewer.Viewer
		shared bool
		heard  int
	}{{admin(), false, 0}, {member(), true, 0}, {admin(), true, 1}} {
		do.shared, do.said = c.shared, nil
		ask(t, h, c.who, address, "do=unshare")
		if len(do.said) != c.heard || c.heard > 0 && do.said[0] != "grace unshare shared in 1" {
			t.Errorf("%+v: heard %q", c, do.said)
		}
	}
	if code, body := ask(t, h, admin(), address, "do=unshare"); code != http.StatusSeeOther || len(do.said) != 1 {
		t.Errorf("the second: %d, heard %q:\n%s", code, do.said, body)
	}
}
