package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// askedAgain counts the requests to redeliver a delivery.
func askedAgain(s *apptest.Stage) (n int) {
	for _, c := range s.Sim.Calls() {
		if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/attempts") {
			n++
		}
	}
	return n
}

// TestRedeliveryGoesOnPastARefusal: one delivery that GitHub refuses to redeliver does not block the others, and is not
// requested forever.
func TestRedeliveryGoesOnPastARefusal(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"README.md": "x\n"}})
	s.Sim.DropDeliveries(func(ghsim.Delivery) bool { return true })
	for n := range 3 {
		if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, fmt.Sprint("issue ", n), ""); err != nil {
			t.Fatal(err)
		}
	}
	s.Quiet()
	s.Sim.DropDeliveries(nil)
	var newest int64
	for _, d := range s.Sim.Deliveries() {
		newest = max(newest, d.ID)
	}
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.HasSuffix(r.URL.Path, fmt.Sprintf("/deliveries/%d/attempts", newest)) {
			return &ghsim.Fault{Status: http.StatusUnprocessableEntity}
		}
		return nil
	})
	for range 5 {
		_ = s.App.Periodic(t.Context(), "redeliver") // the refusal may be reported
		s.Quiet()
	}
	arrived := map[string]bool{}
	for _, d := range s.Sim.Deliveries() {
		if d.StatusCode == http.StatusAccepted && d.Event == "issues" {
			arrived[d.GUID] = true
		}
	}
	if len(arrived) != 2 || askedAgain(s) != 3 {
		t.Errorf("%d of 2 arrived, asked %d times", len(arrived), askedAgain(s))
	}
}

// TestRedeliveryIsAskedForAFewTimes: a delivery that keeps failing is not requested forever, also not by a restarted
// process.
func TestRedeliveryIsAskedForAFewTimes(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"README.md": "x\n"}})
	s.Sim.DropDeliveries(func(ghsim.Delivery) bool { return true })
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "an issue", ""); err != nil {
		t.Fatal(err)
	}
	// An outage of a day must not lose a delivery, so the tries are spaced.
	for n, wait := range []time.Duration{time.Minute, 10 * time.Minute, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour,
		24 * time.Hour, 20 * time.Hour, 0} {
		want := []int{1, 1, 2, 3, 4, 5, 6, 6}[n]
		s.Periodic("redeliver")
		s.Quiet()
		if got := askedAgain(s); got != want {
			t.Errorf("look %d: asked %d times, want %d", n, got, want)
		}
		if n == 1 || n == 4 {
			s.Restart()
		}
		s.Wait(wait)
	}
}

// TestRedeliveryOnceReached: after an outage, failed deliveries are requested soon after GitHub reaches SIA again, not
// hours later.
func TestRedeliveryOnceReached(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"README.md": "x\n"}})
	open := func() {
		if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "an issue", ""); err != nil {
			t.Fatal(err)
		}
		s.Quiet()
	}
	look := func(when string, want int) {
		s.Periodic("redeliver")
		s.Quiet()
		if got := askedAgain(s); got != want {
			t.Errorf("%s: asked %d times, want %d", when, got, want)
		}
	}
	s.Sim.DropDeliveries(func(ghsim.Delivery) bool { return true })
	open()
	look("at once", 1)
	s.Wait(10 * time.Minute)
	look("after ten minutes", 2)
	s.Wait(2 * time.Hour)
	look("after two hours", 3)
	s.Wait(time.Hour)
	look("an hour later", 3)
	s.Sim.DropDeliveries(nil)
	open() // it arrives
	look("when GitHub reaches SIA again", 4)
	s.Wait(time.Hour)
	look("when all has arrived", 4)
}

// TestRedeliveryKnowsWhatArrived: GitHub lists a failed delivery even if a later try arrived. The database records
// that, also for a restarted process.
func TestRedeliveryKnowsWhatArrived(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"README.md": "x\n"}})
	s.Sim.DropDeliveries(func(ghsim.Delivery) bool { return true })
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "an issue", ""); err != nil {
		t.Fatal(err)
	}
	s.Quiet()
	s.Sim.DropDeliveries(nil)
	for range 4 {
		s.Periodic("redeliver")
		s.Quiet()
		s.Restart()
	}
	if n := askedAgain(s); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// TestLateLabel: the delivery of the label arrives when another request has started the task and the task has ended. It
// does not start it once more, whether the task passed or was stopped; a label that is put on afterwards does.
func TestLateLabel(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		s := apptest.Start(t, lossyConfig(t))
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		comment := func(text string) {
			_, err := s.Sim.Comment(apptest.Repo, 1, apptest.Owner, text)
			must(err)
		}
		_, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "It is right at once.")
		must(err)
		s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "issues" })
		must(s.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"))
		s.Wait(time.Minute)
		want := sia.Passed
		if stopped {
			want = sia.Stopped
			s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
		}
		comment("/sia start")
		if stopped {
			s.Until()
			comment("/sia stop")
			s.Go()
		}
		s.Settle()
		s.Wait(time.Minute)
		before := s.Task(1)
		s.Sim.DropDeliveries(nil)
		s.Periodic("redeliver")
		s.Settle()
		if now := s.Task(1); before.State != want || now.State != want || !now.Since.Equal(before.Since) {
			t.Errorf("the task was %s, want %s, and is %s since %s, before %s", before.State, want, now.State, now.Since,
				before.Since)
		}
		must(s.Sim.Unlabel(apptest.Repo, 1, apptest.Owner, "sia"))
		must(s.Sim.Label(apptest.Repo, 1, apptest.Owner, "sia"))
		s.Settle()
		if now := s.Task(1); !now.StartedAt.After(before.StartedAt) {
			t.Error("the label that was put on afterwards does not start the task")
		}
	}
}

// TestLateStart: a comment /sia start that was written before the task ended and arrives afterwards does not start it
// again, and is answered once. One that was written after the /sia stop that ended it does.
func TestLateStart(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		s := shop(t, "pass")
		s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
		n := openLabelled(t, s, apptest.Owner)
		s.Until()
		s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "issue_comment" })
		comment := func(text string) {
			_, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, text)
			check(t, err)
		}
		comment("/sia start anyway")
		s.Wait(2 * time.Minute)
		s.Sim.DropDeliveries(nil)
		if stopped {
			comment("/sia stop")
		}
		s.Go()
		s.Settle()
		before := s.Task(n)
		for range 2 {
			s.Wait(2 * time.Hour)
			s.Periodic("redeliver")
			s.Settle()
		}
		if now := s.Task(n); !before.State.Final() || now.State != before.State || !now.Since.Equal(before.Since) {
			t.Errorf("stopped %v: it was %s, and is %s since %s, before %s", stopped, before.State, now.State, now.Since,
				before.Since)
		}
		if got := strings.Count(said(t, s, n), "This was written before the task ended"); got != 1 {
			t.Errorf("stopped %v: it was answered %d times", stopped, got)
		}
		comment("/sia start anew")
		s.Settle()
		if now := s.Task(n); !now.StartedAt.After(before.StartedAt) {
			t.Errorf("stopped %v: a comment that was written afterwards does not start the task", stopped)
		}
	}
}

// TestLateAcceptance: a comment /sia accept-tests that was written before SIA asked about the present head and arrives
// afterwards accepts nothing, and is answered once. One that was written after it does.
func TestLateAcceptance(t *testing.T) {
	t.Parallel()
	s := shop(t, "tampering-accepted")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "issue_comment" })
	comment := func() {
		_, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia accept-tests")
		check(t, err)
	}
	comment()
	s.Wait(2 * time.Minute)
	s.Sim.DropDeliveries(nil)
	s.Go()
	s.Settle()
	for range 2 {
		s.Wait(2 * time.Hour)
		s.Periodic("redeliver")
		s.Settle()
	}
	if now := s.Task(n); !now.Gate.AwaitsPerson || len(now.Accepted) != 0 {
		t.Errorf("it is %s, and accepted %v", now.State, now.Accepted)
	}
	if got := strings.Count(said(t, s, n), "This was written before SIA asked about"); got != 1 {
		t.Errorf("it was answered %d times", got)
	}
	comment()
	s.Settle()
	if now := s.Task(n); now.State != sia.Passed || len(now.Accepted) != 1 {
		t.Errorf("it is %s, and accepted %v", now.State, now.Accepted)
	}
}

// TestLatePushes: of three pushes to the branch, the deliveries of the first two failed. They are sent again after the
// third arrived, and move no head back.
func TestLatePushes(t *testing.T) {
	t.Parallel()
	for _, passed := range []bool{false, true} {
		s := shop(t, "pass")
		s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
		n := openLabelled(t, s, apptest.Owner)
		s.Until()
		if passed {
			s.Go()
			s.Settle()
		}
		branch, want := s.Task(n).Branch, sia.SHA("")
		for i := range 3 {
			s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return i < 2 && d.Event == "pull_request" })
			sha, err := s.Sim.PushFiles(apptest.Repo, branch, apptest.Owner, "More", map[string]string{
				"hello.txt": "Hello, world!\n", "more.txt": fmt.Sprint(i)})
			check(t, err)
			want = sia.SHA(sha)
			s.Wait(time.Minute)
		}
		for range 2 {
			s.Wait(2 * time.Hour)
			s.Periodic("redeliver")
			s.Wait(time.Minute)
		}
		s.Go()
		s.Settle()
		log, err := s.App.Store.Events(t.Context(), s.Task(n).ID)
		check(t, err)
		var heads []sia.SHA
		for _, r := range log {
			if f, moved := r.Event.Fact.(sia.BranchMoved); moved {
				heads = append(heads, f.SHA)
			}
		}
		if !slices.Equal(heads, []sia.SHA{want}) {
			t.Errorf("passed %v: the branch moved to %v, want %s alone", passed, heads, want)
		}
	}
}

// TestStartAfterUnseenEnd: while SIA does not run, a person closes the pull request and later comments /sia start. SIA
// finds the pull request closed, and then the comment arrives: it was written after the end, so it starts the task.
func TestStartAfterUnseenEnd(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	before := s.Task(n)
	s.Sim.DropDeliveries(func(ghsim.Delivery) bool { return true })
	check(t, s.Sim.ClosePull(apptest.Repo, before.Pull.Number, apptest.Owner))
	s.Wait(10 * time.Minute)
	_, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia start")
	check(t, err)
	s.Wait(50 * time.Minute)
	s.Sim.DropDeliveries(nil)
	s.Go()
	s.Settle()
	if now := s.Task(n); now.State != sia.Stopped {
		t.Fatalf("the task is %s", now.State)
	}
	s.Periodic("redeliver")
	s.Settle()
	if now := s.Task(n); now.State != sia.Passed || now.Pull.Number == before.Pull.Number {
		t.Errorf("in the end the task is %s: %s", now.State, now.Ended)
	}
}

// TestRedeliveryCatchesUp: deliveries beyond the limit of one round are requested in the next ones.
func TestRedeliveryCatchesUp(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"README.md": "x\n"}})
	s.Sim.DropDeliveries(func(ghsim.Delivery) bool { return true })
	const lost = 230
	for n := range lost {
		if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, fmt.Sprint("issue ", n), ""); err != nil {
			t.Fatal(err)
		}
	}
	s.Quiet()
	s.Sim.DropDeliveries(nil)
	for _, want := range []int{100, 200, lost, lost} {
		s.Periodic("redeliver")
		s.Quiet()
		if n := askedAgain(s); n != want {
			t.Errorf("asked %d times, want %d", n, want)
		}
	}
}
