package webhook

import (
	"errors"

	"github.com/tidwall/gjson"
)

// errNoJSON refuses a body before it is stored.
var errNoJSON = errors.New("the body is not JSON: set the webhook's content type to application/json")

// envelope holds the fields that route a delivery. The rest of the body is decoded when the delivery is processed,
// not while GitHub waits.
type envelope struct {
	action       string
	installation int64
	repository   string // owner/name
}

// readEnvelope reads the envelope of a signed body.
func readEnvelope(body []byte) (envelope, error) {
	if !gjson.ValidBytes(body) || !gjson.ParseBytes(body).IsObject() {
		return envelope{}, errNoJSON
	}
	v := gjson.GetManyBytes(body, "action", "installation.id", "repository.full_name")
	return envelope{v[0].String(), v[1].Int(), v[2].String()}, nil
}
