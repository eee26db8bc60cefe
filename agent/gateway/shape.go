package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// shape filters a JSON value. It returns the allowed part of the value, or an error if the value is not allowed. It
// counts the images and documents in the value. null has every shape.
type shape func(json.RawMessage, *media) (json.RawMessage, error)

// media counts the parts of a request that may have far more tokens than bytes.
type media struct{ images, documents int }

// add counts a part by its media type. A model may read anything but an image page by page.
func (m *media) add(mediaType string) {
	if strings.HasPrefix(mediaType, "image/") {
		m.images++
	} else {
		m.documents++
	}
}

// fields are the fields of an object, by their exact names.
type fields map[string]shape

// anything allows any value. It is for values that only the model reads.
func anything(v json.RawMessage, _ *media) (json.RawMessage, error) { return v, nil }

// nothing replaces any value by null.
func nothing(json.RawMessage, *media) (json.RawMessage, error) { return json.RawMessage("null"), nil }

// text allows a string.
func text(v json.RawMessage, _ *media) (json.RawMessage, error) {
	if v[0] != '"' && !isNull(v) {
		return nil, errors.New("it is not a string")
	}
	return v, nil
}

// inline allows a data URL. With other URLs, the provider would fetch an address chosen by the program.
func inline(v json.RawMessage, m *media) (json.RawMessage, error) {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return nil, errors.New("it is not a string")
	}
	if isNull(v) {
		return v, nil
	}
	mediaType, is := strings.CutPrefix(s, "data:")
	if !is {
		return nil, errors.New("only data: URLs are passed on, and no addresses")
	}
	m.add(mediaType)
	return v, nil
}

// document counts the values of a shape as documents.
func document(of shape) shape {
	return func(v json.RawMessage, m *media) (json.RawMessage, error) {
		if !isNull(v) {
			m.documents++
		}
		return of(v, m)
	}
}

// encoded counts the objects of a shape by their media type.
func encoded(of shape) shape {
	return func(v json.RawMessage, m *media) (json.RawMessage, error) {
		clean, err := of(v, m)
		var source struct {
			MediaType string `json:"media_type"`
		}
		if err == nil && json.Unmarshal(clean, &source) == nil {
			m.add(source.MediaType)
		}
		return clean, err
	}
}

// oneOf allows one of some strings.
func oneOf(values ...string) shape {
	return func(v json.RawMessage, _ *media) (json.RawMessage, error) {
		var s string
		if json.Unmarshal(v, &s) != nil || !slices.Contains(values, s) {
			return nil, fmt.Errorf("%.100s %w", v, errKind)
		}
		return v, nil
	}
}

// either filters strings by one shape, and other values by another.
func either(str, other shape) shape {
	return func(v json.RawMessage, m *media) (json.RawMessage, error) {
		if v[0] == '"' {
			return str(v, m)
		}
		return other(v, m)
	}
}

// object allows an object. It drops fields that are not listed.
func object(f fields) shape {
	return func(v json.RawMessage, m *media) (json.RawMessage, error) {
		if isNull(v) {
			return v, nil
		}
		var all map[string]json.RawMessage
		if json.Unmarshal(v, &all) != nil {
			return nil, errObject
		}
		for name, value := range all {
			of, known := f[name]
			if !known {
				delete(all, name)
				continue
			}
			clean, err := of(value, m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all[name] = clean
		}
		return json.Marshal(all)
	}
}

// list allows a list of values of one shape.
func list(of shape) shape { return filteredList(of, false) }

// known allows a list of values of one shape. It drops those of an unknown kind.
func known(of shape) shape { return filteredList(of, true) }

func filteredList(of shape, drop bool) shape {
	return func(v json.RawMessage, m *media) (json.RawMessage, error) {
		if isNull(v) {
			return v, nil
		}
		var all []json.RawMessage
		if json.Unmarshal(v, &all) != nil {
			return nil, errors.New("it is not a list")
		}
		kept := all[:0]
		for _, one := range all {
			clean, err := of(one, m)
			if drop && errors.Is(err, errKind) {
				continue
			}
			if err != nil {
				return nil, err
			}
			kept = append(kept, clean)
		}
		return json.Marshal(kept)
	}
}

var (
	errObject = errors.New("it is not an object")
	errKind   = errors.New("is not passed on") // for a value of an unlisted kind
)

// kinds allows an object with a shape that depends on its type; "" is for objects without a type. A type may end in *,
// which matches the date of its version.
func kinds(of map[string]shape) shape {
	return func(v json.RawMessage, m *media) (json.RawMessage, error) {
		if isNull(v) {
			return v, nil
		}
		var all map[string]json.RawMessage
		if json.Unmarshal(v, &all) != nil {
			return nil, errObject
		}
		kind := ""
		if raw, typed := all["type"]; typed && (json.Unmarshal(raw, &kind) != nil || kind == "") {
			return nil, errors.New("its type is not a string")
		}
		to, there := of[kind]
		if version := strings.LastIndexByte(kind, '_'); !there && version >= 0 &&
			strings.Trim(kind[version+1:], "0123456789") == "" {
			to, there = of[kind[:version+1]+"*"]
		}
		if !there {
			return nil, fmt.Errorf("the type %.100q %w", kind, errKind)
		}
		return to(v, m)
	}
}

func isNull(v json.RawMessage) bool { return string(v) == "null" }

// maxValues is the maximum number of values in a request, since each takes memory in addition to its bytes.
const maxValues = 250_000

// checkJSON returns an error for invalid JSON, for too many values, and for duplicate names in an object, which parsers
// handle differently.
func checkJSON(b []byte) error {
	if !json.Valid(b) {
		var v json.RawMessage
		return json.Unmarshal(b, &v)
	}
	type container struct {
		names map[string]bool // nil: a list
		name  bool            // a name is next
	}
	var open []container
	values := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{':
			open = append(open, container{map[string]bool{}, true})
		case '[':
			open = append(open, container{})
		case '}', ']':
			open = open[:len(open)-1]
		case ',':
			in := &open[len(open)-1]
			in.name = in.names != nil
		case '"':
			end := literalEnd(b, i)
			if len(open) > 0 && open[len(open)-1].name {
				in := &open[len(open)-1]
				in.name = false
				var name string
				if err := json.Unmarshal(b[i:end], &name); err != nil {
					return err
				}
				if in.names[name] {
					return fmt.Errorf("it names %.100q twice", name)
				}
				in.names[name] = true
			}
			i = end - 1
			continue
		default:
			continue
		}
		if values++; values > maxValues {
			return fmt.Errorf("it has more than %d values", maxValues)
		}
	}
	return nil
}

// literalEnd returns the end of the string literal at i; b must be valid JSON.
func literalEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}
