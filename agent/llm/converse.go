package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sia-bot/sia/sia/text"
)

// Completer makes one call to a model. [Client] and [Chain] implement it.
type Completer interface {
	Complete(ctx context.Context, req Request) (Response, error)
}

// Question is a request for an answer in JSON, with its retries.
type Question struct {
	Messages []Message
	Schema   *Schema
	Within   time.Duration // limit for one call, including the client's own retries
	Tries    int           // maximum number of answers; at least two
}

// maxShown is the maximum size of an unusable answer that is repeated in the next request, in characters.
const maxShown = 8000

// errCut means that an answer ended at the output limit.
var errCut = errors.New("the answer was cut off at the output limit; make it shorter")

// Converse asks a question until accept returns nil for the answer. Each new request names the fault of the answer
// before. Converse returns the usage of all calls. Its error explains in words for users why there is no usable answer;
// it wraps the [Error] of a failed call.
func Converse(ctx context.Context, m Completer, q Question, accept func([]byte) error) (used Usage, err error) {
	messages := q.Messages[:len(q.Messages):len(q.Messages)]
	var fault error
	for range max(q.Tries, 2) {
		resp, err := within(ctx, m, q.Within, Request{Messages: messages, Schema: q.Schema})
		used = used.Add(resp.Spent())
		var call *Error
		switch {
		case resp.CutWhileThinking(): // the limit is higher from now on
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
			// An answer without JSON: ask for a correction.
		case resp.answered():
			return used, &unanswered{"the model gave no answer: ", err}
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

// unanswered is the error if there is no usable answer.
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
