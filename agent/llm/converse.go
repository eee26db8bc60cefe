package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia/text"
)

// Completer makes one call to a model. [Client] and [Chain] are.
type Completer interface {
	Complete(ctx context.Context, req Request) (Response, error)
}

// Converse makes a call for a JSON answer, and a second one that names the fault when accept
// refuses the first. Each may take as long as timeout. It returns what both used, and why there is no
// usable answer, in words for people; empty when there is one.
func Converse(
	ctx context.Context, m Completer, timeout time.Duration, messages []Message, schema *Schema,
	accept func([]byte) error,
) (used Usage, why string) {
	var fault error
	for range 2 {
		resp, err := completeWithin(ctx, m, timeout, Request{Messages: messages, Schema: schema})
		used = used.Add(resp.Spent())
		var callErr *Error
		switch {
		case err == nil:
			raw := resp.JSON
			if raw == nil {
				raw, err = ExtractJSON(resp.Message.Content)
			}
			if err == nil {
				err = accept(raw)
			}
			if err == nil {
				return used, ""
			}
		case errors.As(err, &callErr) && callErr.Kind == KindMalformed && resp.Message.Content != "":
			// It answered, but not with JSON: worth one repair.
		default:
			return used, "the model could not be asked: " + text.Clip(err.Error(), 300)
		}
		fault = err
		messages = append(messages[:len(messages):len(messages)],
			Message{Role: RoleAssistant, Content: text.Clip(resp.Message.Content, 8000)},
			Message{Role: RoleUser, Content: fmt.Sprintf("That answer can't be used: %s.\nAnswer again, with the "+
				"whole corrected JSON object and nothing else.", text.Clip(fault.Error(), 1000))})
	}
	return used, "the model's answer was unusable, also after it was told why: " + text.Clip(fault.Error(), 300)
}

func completeWithin(ctx context.Context, m Completer, timeout time.Duration, req Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return m.Complete(ctx, req)
}
