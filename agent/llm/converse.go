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

// Question is a call for an answer in JSON, and what is done when the answer can't be used.
type Question struct {
	Messages []Message
	Schema   *Schema
	Within   time.Duration // that one call may take, the client's own retries included
	Tries    int           // answers that are asked for before an unusable one is final; at least two
}

// maxShown are characters of an unusable answer that are shown with what is wrong with it.
const maxShown = 8000

// errCut is an answer that ended at the output limit.
var errCut = errors.New("the answer was cut off at the output limit; make it shorter")

// Converse asks a question until accept takes the answer, each time naming the fault of the one
// before. It returns what all calls used. The error says in words for people why there is no usable
// answer; it wraps the call's [Error] where the model could not be asked.
func Converse(ctx context.Context, m Completer, q Question, accept func([]byte) error) (used Usage, err error) {
	messages := q.Messages[:len(q.Messages):len(q.Messages)]
	var fault error
	for range max(q.Tries, 2) {
		resp, err := within(ctx, m, q.Within, Request{Messages: messages, Schema: q.Schema})
		used = used.Add(resp.Spent())
		var call *Error
		switch {
		case resp.CutInThought(): // it may think longer from now on
			err = errCut
		case err == nil && resp.Finish == FinishLength:
			err = errCut
		case err == nil:
			raw := resp.JSON
			if raw == nil {
				raw, err = ExtractJSON(resp.Message.Content)
			}
			if err == nil {
				err = accept(raw)
			}
			if err == nil {
				return used, nil
			}
		case errors.As(err, &call) && call.Kind == KindMalformed && resp.Message.Content != "":
			// It answered, but not with JSON: worth a repair.
		default:
			return used, &unanswered{"the model could not be asked: ", err}
		}
		fault = err
		messages = append(messages, Message{Role: RoleAssistant, Content: text.Clip(resp.Message.Content, maxShown)},
			Message{Role: RoleUser, Content: fmt.Sprintf("That answer can't be used: %s.\nAnswer again, with the "+
				"whole corrected JSON object and nothing else.", text.Clip(fault.Error(), 1000))})
	}
	return used, &unanswered{"the model's answer was unusable, also after it was told why: ", fault}
}

// unanswered is why there is no usable answer.
type unanswered struct {
	what string
	err  error
}

func (u *unanswered) Error() string { return u.what + text.Clip(u.err.Error(), 300) }

func (u *unanswered) Unwrap() error { return u.err }

func within(ctx context.Context, m Completer, timeout time.Duration, req Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return m.Complete(ctx, req)
}
