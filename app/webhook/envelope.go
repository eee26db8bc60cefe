package webhook

import (
	"encoding/json"
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

// readEnvelope reads the envelope of a body. Of a key that is there twice the last counts, as for encoding/json, by
// which the body is read later.
func readEnvelope(body []byte) (e envelope, err error) {
	if !gjson.ValidBytes(body) {
		return envelope{}, errNoJSON
	}
	err = members(gjson.ParseBytes(body), func(key string, value gjson.Result) error {
		switch key {
		case "action":
			return decode(value, &e.action)
		case "installation":
			return member(value, "id", &e.installation)
		case "repository":
			return member(value, "full_name", &e.repository)
		}
		return nil
	})
	if err != nil {
		return envelope{}, errNoJSON
	}
	return e, nil
}

// members calls each for the members of an object, until it fails.
func members(of gjson.Result, each func(key string, value gjson.Result) error) (err error) {
	if !of.IsObject() {
		return errNoJSON
	}
	of.ForEach(func(key, value gjson.Result) bool {
		err = each(key.Str, value)
		return err == nil
	})
	return err
}

// member decodes one member of an object; what is no object has none.
func member(of gjson.Result, name string, to any) error {
	if !of.IsObject() {
		return nil
	}
	return members(of, func(key string, value gjson.Result) error {
		if key != name {
			return nil
		}
		return decode(value, to)
	})
}

func decode(value gjson.Result, to any) error { return json.Unmarshal([]byte(value.Raw), to) }
