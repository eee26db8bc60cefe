package failure

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia/view"
)

const deprecatedAction = "This request has been automatically failed because it uses a deprecated version of " +
	"`actions/upload-artifact: v3`. Learn more: https://github.blog/changelog/2024-04-16-deprecation-notice"

func TestNeverStarted(t *testing.T) {
	for message, want := range map[string]StartFailure{
		"The job was not started because recent account payments have failed or your spending limit needs to be " +
			"increased. Please check the 'Billing & plans' section in your settings": Billing,
		"The job was not started because your account is locked due to a billing issue.":    Billing,
		"The job has exceeded the maximum execution quota of your plan.":                    Quota,
		"The job was not started because the included minutes of this account are used up.": Quota,
		"This job was not acquired by Runner of type hosted even after multiple attempts":   NoRunner,
		"There are no enabled runners online to process the request for more than 1 day.":   NoRunner,
		"No runner matching the specified labels was found: gpu-large":                      NoRunner,
		"The job was not started because somebody said so.":                                 OtherReason,

		"The job has exceeded the maximum execution time while awaiting a runner for 24h0m0s": NoRunner,
		"Branch \"refs/pull/619/merge\" is not allowed to deploy to github-pages due to environment protection " +
			"rules.": OtherReason,
		deprecatedAction: OtherReason,
		"This is a scheduled Ubuntu 20.04 brownout. Ubuntu 20.04 LTS runner will be removed on 2025-04-15.": OtherReason,

		"Process completed with exit code 1.": "",
		"The job running on runner GitHub Actions 2 has exceeded the maximum execution time of 360 min.":    "",
		"The job running on runner GitHub Actions 2 has exceeded the maximum execution time of 10 minutes.": "",
		"hello_test.go:12: want 3 greetings, got 2":                                                         "",
	} {
		marks := []view.Annotation{{Level: "notice", Message: "Hello"}, {Level: "failure", Message: message}}
		got, words, ok := NeverStarted(marks)
		if got != want || ok != (want != "") || ok && words != message {
			t.Errorf("%q: %q, %q", message, got, words)
		}
	}
}

// A job that fails before its first step has a log that ends with GitHub's message.
func TestNeverStartedOfLog(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want Class
	}{
		"refused": {"##[error]" + deprecatedAction + "\n", NotStarted},
		"said by a step": {"##[group]Run make\nshell: sh\n##[endgroup]\n##[error]" + deprecatedAction + "\n",
			ConfigError},
		"another system's step":  {"##[section]Starting: Build\n##[error]write: Disk quota exceeded\n", Infrastructure},
		"an action is not there": {"##[error]Unable to resolve action `acme/gone@v1`, not found\n", ConfigError},
	} {
		rep := read(t, "Current runner version: '2.320.0'\nGetting action download info\n"+c.log, Options{Name: "test"})
		if rep.Class != c.want || c.want == NotStarted && (rep.Text != deprecatedAction || rep.Line != 3 ||
			rep.Signature != string(OtherReason)) {
			t.Errorf("%s: %+v", name, rep)
		}
	}
}

// The excerpt of a job that exceeded its time limit is its last output, even if there is an error above it.
func TestTimedOut(t *testing.T) {
	limit := view.Annotation{Level: "failure", Message: "The job has exceeded the maximum execution time of 10m0s"}
	log := "##[group]Run npm test\nnpm test\nshell: bash\n##[endgroup]\nerror: no cache, going on\n" +
		strings.Repeat("ok\n\nfine\n", 30) + "cart.test.js > adds tax ...\n\n##[error]The operation was canceled.\n"
	for name, after := range map[string]string{
		"at the end":          "",
		"something cleans up": "Post job cleanup.\ngit version 2\n",
		"a step follows":      "##[group]Run ./notify\nshell: bash\n##[endgroup]\nsent\n",
	} {
		rep := read(t, log+after, Options{Annotations: []view.Annotation{limit}})
		if rep.Class != Timeout || !strings.HasSuffix(rep.Text, "cart.test.js > adds tax ...\nThe operation was canceled.") ||
			strings.Contains(rep.Text, "cache") || rep.Signature == "" {
			t.Errorf("%s: %+v", name, rep)
		}
	}
	if rep := read(t, log, Options{}); rep.Class == Timeout {
		t.Errorf("nothing says so: %+v", rep)
	}
	if rep := read(t, "building\n", Options{Annotations: []view.Annotation{limit}}); rep.Class != Timeout ||
		rep.Text == "" {
		t.Errorf("no end: %+v", rep)
	}
}
