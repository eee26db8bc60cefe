package secret_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/secret"
)

var token = "ghp_" + strings.Repeat("aB3d", 9)

type inner struct {
	Text string
	At   time.Time
}

type outer struct {
	Any   any
	Ptr   *inner
	List  []inner
	Map   map[string]string
	Bytes []byte
	Plain string
}

func TestWithinMasksEveryStringAndChangesNothingElse(t *testing.T) {
	at := time.Unix(1, 0)
	in := outer{
		Any: inner{"any " + token, at}, Ptr: &inner{"ptr " + token, at}, List: []inner{{"plain", at}, {"list " + token, at}},
		Map: map[string]string{"a": token, "b": "plain"}, Bytes: []byte(token), Plain: "plain",
	}
	const mark = "[secret: github-pat]"
	want := outer{
		Any: inner{"any " + mark, at}, Ptr: &inner{"ptr " + mark, at}, List: []inner{{"plain", at}, {"list " + mark, at}},
		Map: map[string]string{"a": mark, "b": "plain"}, Bytes: []byte(token), Plain: "plain",
	}
	if d := cmp.Diff(want, secret.Within(nil, in)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if in.List[1].Text != "list "+token || in.Ptr.Text != "ptr "+token || in.Map["a"] != token {
		t.Error("the value that was given was changed")
	}
	if got := secret.Within[error](nil, nil); got != nil {
		t.Errorf("nil became %v", got)
	}
}

func TestHandlerMasksMessagesAndAttributes(t *testing.T) {
	m := &secret.Masker{}
	m.Know("model-key", "a key without a shape")
	var out bytes.Buffer
	log := slog.New(m.Handler(slog.NewTextHandler(&out, nil))).With("with", token).WithGroup("g")
	log.Info("message "+token, "string", "x "+token, "error", fmt.Errorf("wrapped: %w", errors.New(token)), "known", "a key without a shape",
		slog.Group("group", "in", token), "struct", outer{Plain: token}, "list", []string{token}, "number", 7)
	got := out.String()
	if strings.Contains(got, token) || strings.Contains(got, "without a shape") {
		t.Errorf("a secret in the log: %s", got)
	}
	for _, want := range []string{"with=", "g.string=\"x [secret: github-pat]\"", "g.number=7", "[secret: model-key]"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
}
