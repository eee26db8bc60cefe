package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
)

// errNoJSON is why a body is refused before it is stored.
var errNoJSON = errors.New("the body is not JSON: set the webhook's content type to application/json")

// envelope is what routes a delivery. Everything else in its body is passed over unread: the body is read whole when it
// is worked on, and not while GitHub waits.
type envelope struct {
	action       string
	installation int64
	repository   string // owner/name
}

// readEnvelope reads the envelope of a body. It is an error when the body is no JSON object, as far as that shows
// without reading the values that are passed over.
func readEnvelope(body []byte) (e envelope, err error) {
	s := scanner{rest: body}
	err = s.object(func(key string) error {
		switch key {
		case "action":
			return s.into(&e.action)
		case "installation":
			return s.member("id", &e.installation)
		case "repository":
			return s.member("full_name", &e.repository)
		}
		_, err := s.value()
		return err
	})
	if err != nil || s.next() != 0 {
		return envelope{}, errNoJSON
	}
	return e, nil
}

// scanner goes through JSON from value to value.
type scanner struct{ rest []byte }

// next is the byte that comes next, after blanks; 0 at the end.
func (s *scanner) next() byte {
	s.rest = bytes.TrimLeft(s.rest, " \t\r\n")
	if len(s.rest) == 0 {
		return 0
	}
	return s.rest[0]
}

// take goes past a byte that has to come next.
func (s *scanner) take(c byte) error {
	if s.next() != c || c == 0 {
		return errNoJSON
	}
	s.rest = s.rest[1:]
	return nil
}

// object calls member for each key of an object, after which its value comes.
func (s *scanner) object(member func(key string) error) error {
	if err := s.take('{'); err != nil {
		return err
	}
	for first := true; s.next() != '}'; first = false {
		if !first {
			if err := s.take(','); err != nil {
				return err
			}
		}
		var key string
		if s.next() != '"' {
			return errNoJSON
		}
		if err := s.into(&key); err != nil {
			return err
		}
		if err := s.take(':'); err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
	}
	return s.take('}')
}

// member reads a member of the object that comes next, and passes over what is no object.
func (s *scanner) member(name string, to any) error {
	if s.next() != '{' {
		_, err := s.value()
		return err
	}
	return s.object(func(key string) error {
		if key == name {
			return s.into(to)
		}
		_, err := s.value()
		return err
	})
}

// into reads the value that comes next.
func (s *scanner) into(to any) error {
	v, err := s.value()
	if err != nil {
		return err
	}
	return json.Unmarshal(v, to)
}

// value goes past the value that comes next, and returns its text.
func (s *scanner) value() ([]byte, error) {
	c := s.next()
	from := s.rest
	var n int
	switch c {
	case '"':
		n = stringEnd(from)
	case '{', '[':
		n = nestedEnd(from)
	default:
		if n = bytes.IndexAny(from, ",]} \t\r\n"); n < 0 {
			n = len(from)
		}
	}
	if n <= 0 {
		return nil, errNoJSON
	}
	s.rest = from[n:]
	return from[:n], nil
}

// stringEnd is where the string ends with which a text begins; 0: it does not.
func stringEnd(b []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		end := i + n
		escapes := 0
		for b[end-1-escapes] == '\\' { // it ends at the opening quote
			escapes++
		}
		if i = end + 1; escapes%2 == 0 {
			return i
		}
	}
}

// nestedEnd is where the object or list ends with which a text begins; 0: it does not.
func nestedEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
