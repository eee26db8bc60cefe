package llm_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/flavour"
)

// Lessons from an endpoint's message don't depend on the key or on its position: keys of local servers are words, and
// gateways add text before the provider's message.
func TestWhatIsSaidTeachesBeforeItIsMasked(t *testing.T) {
	const refusal = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
	for name, c := range map[string]struct{ key, before string }{
		"one letter":   {key: "x"},
		"a word of it": {key: "token"},
		"late":         {before: strings.Repeat("litellm.BadRequestError: ", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				switch {
				case err != nil:
					w.WriteHeader(http.StatusInternalServerError)
				case strings.Contains(string(body), `"max_tokens"`):
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, flavour.Words(c.before+refusal))
				default:
					fmt.Fprint(w, `{"choices":[{"message":{"content":"Done."}}]}`)
				}
			})
			client, _ := dial(t, srv, func(cfg *llm.Config) { cfg.APIKey = cmp.Or(c.key, key) })
			if resp, err := client.Complete(t.Context(), ask("go")); err != nil || resp.Message.Content != "Done." {
				t.Errorf("%q, %v", resp.Message.Content, err)
			}
		})
	}
}

// A key is masked in messages for users, unless it is a word of a few letters; other words stay readable.
func TestKeysInWhatIsShown(t *testing.T) {
	for key, want := range map[string]string{
		"x":         "the key x is expired; max_tokens too",
		"0123456-x": "the key *** is expired; max_tokens too",
	} {
		srv := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, flavour.Words("the key "+key+" is expired; max_tokens too"))
		})
		client, _ := dial(t, srv, func(cfg *llm.Config) { cfg.APIKey = key })
		_, err := client.Complete(t.Context(), ask("go"))
		var e *llm.Error
		if !errors.As(err, &e) || e.Message != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
