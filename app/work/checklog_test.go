package work

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/view"
)

func TestLogLine(t *testing.T) {
	const job = "https://github.com/o/r/actions/runs/1/job/2"
	for _, c := range []struct {
		name       string
		run        github.CheckRun
		step, line int
		want       string
	}{
		{"the job's page", github.CheckRun{URL: job}, 4, 31, job + "#step:4:31"},
		{"the check's page and the job's", github.CheckRun{URL: "https://github.com/o/r/runs/2", DetailsURL: job}, 4, 31,
			job + "#step:4:31"},
		{"no step", github.CheckRun{URL: job}, 0, 31, job},
		{"no job", github.CheckRun{URL: "https://github.com/o/r/runs/2", DetailsURL: "https://ci.test/7"}, 4, 31,
			"https://github.com/o/r/runs/2"},
		{"a line already", github.CheckRun{URL: job + "#step:1:2"}, 4, 31, job + "#step:1:2"},
	} {
		if got := logLineURL(c.run, c.step, c.line); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The reason why a job was never started is reported whether it is in an annotation or in a log.
func TestSaidOfNeverStarted(t *testing.T) {
	for class, want := range map[failure.Class]string{failure.NotStarted: "a brownout", failure.ConfigError: ""} {
		if got := checkLogOf(github.CheckRun{}, failure.Report{Text: "a brownout", Class: class}).notStarted; got != want {
			t.Errorf("%s: %q, want %q", class, got, want)
		}
	}
}

// The log of a canceled job does not indicate a time limit of GitHub's; GitHub's own annotation does.
func TestCheckThatWasCancelled(t *testing.T) {
	run := github.CheckRun{Conclusion: "cancelled"}
	for said, want := range map[string]failure.Class{
		"The operation was canceled.":                               failure.Cancelled,
		"The job has exceeded the maximum execution time of 10m0s.": failure.Timeout,
	} {
		rep, err := readCheck(t.Context(), strings.NewReader("the build has timed out after 3 s\n"), run,
			failure.Options{Annotations: []view.Annotation{{Level: "failure", Message: said}}})
		if err != nil || rep.Class != want {
			t.Errorf("%s: %s, want %s; %v", said, rep.Class, want, err)
		}
	}
}
