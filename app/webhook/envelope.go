package webhook

import (
	"errors"

	"github.com/tidwall/gjson"
)

// errNoJSON is why a body is refused before it is stored.
var errNoJSON = errors.New("the body is not JSON: set the webhook's content type to application/json")

// envelope is what routes a delivery. Everything else in its body is passed over: it is decoded when the delivery is
// worked on, and not while GitHub waits.
type envelope struct {
	action       string
	installation int64
	repository   string // owner/name
}

// readEnvelope reads the envelope of a body that GitHub signed.
func readEnvelope(body []byte) (envelope, error) {
	if !gjson.ValidBytes(body) || !gjson.ParseBytes(body).IsObject() {
		return envelope{}, errNoJSON
	}
	v := gjson.GetManyBytes(body, "action", "installation.id", "repository.full_name")
	return envelope{v[0].String(), v[1].Int(), v[2].String()}, nil
}
