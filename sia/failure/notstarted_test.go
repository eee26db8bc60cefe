package failure

import "testing"

func TestNeverStarted(t *testing.T) {
	for message, want := range map[string]Hindrance{
		"The job was not started because recent account payments have failed or your spending limit needs to be " +
			"increased. Please check the 'Billing & plans' section in your settings": Billing,
		"The job was not started because your account is locked due to a billing issue.":                 Billing,
		"The job has exceeded the maximum execution quota of your plan.":                                 Quota,
		"The job was not started because the included minutes of this account are used up.":              Quota,
		"This job was not acquired by Runner of type hosted even after multiple attempts":                NoRunner,
		"There are no enabled runners online to process the request for more than 1 day.":                NoRunner,
		"No runner matching the specified labels was found: gpu-large":                                   NoRunner,
		"The job was not started because somebody said so.":                                              OtherReason,
		"Process completed with exit code 1.":                                                            "",
		"The job running on runner GitHub Actions 2 has exceeded the maximum execution time of 360 min.": "",
		"hello_test.go:12: want 3 greetings, got 2":                                                      "",
	} {
		marks := []Annotation{{Level: "notice", Message: "Hello"}, {Level: "failure", Message: message}}
		got, words, ok := NeverStarted(marks)
		if got != want || ok != (want != "") || ok && words != message {
			t.Errorf("%q: %q, %q", message, got, words)
		}
	}
}
