package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// shape says what goes through of a JSON value. It gives the value without what does not,
// or an error when there must not be such a value. null has every shape.
type shape func(json.RawMessage) (json.RawMessage, error)

// fields are the fields of an object, by their exact names.
type fields map[string]shape

// anything goes through as it is. It is for what only the model reads.
func anything(v json.RawMessage) (json.RawMessage, error) { return v, nil }

// nothing becomes null.
func nothing(json.RawMessage) (json.RawMessage, error) { return json.RawMessage("null"), nil }

// text is a string.
func text(v json.RawMessage) (json.RawMessage, error) {
	if v[0] != '"' && !isNull(v) {
		return nil, errors.New("it is not a string")
	}
	return v, nil
}

// inline is a string that holds what it is about. A string that names it would make the
// provider fetch an address of the program's choice.
func inline(v json.RawMessage) (json.RawMessage, error) {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return nil, errors.New("it is not a string")
	}
	if !isNull(v) && !strings.HasPrefix(s, "data:") {
		return nil, errors.New("only data: URLs are passed on, and no addresses")
	}
	return v, nil
}

// oneOf is one of some strings.
func oneOf(values ...string) shape {
	return func(v json.RawMessage) (json.RawMessage, error) {
		var s string
		if json.Unmarshal(v, &s) != nil || !slices.Contains(values, s) {
			return nil, fmt.Errorf("%.100s %w", v, errKind)
		}
		return v, nil
	}
}

// either is a string of one shape, or anything else of another.
func either(str, other shape) shape {
	return func(v json.RawMessage) (json.RawMessage, error) {
		if v[0] == '"' {
			return str(v)
		}
		return other(v)
	}
}

// object is an object. Fields that are not named are dropped.
func object(f fields) shape {
	return func(v json.RawMessage) (json.RawMessage, error) {
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
			clean, err := of(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all[name] = clean
		}
		return json.Marshal(all)
	}
}

// list is a list of values of one shape.
func list(of shape) shape { return filteredList(of, false) }

// known is a list of values of one shape. Those of another kind are dropped.
func known(of shape) shape { return filteredList(of, true) }

func filteredList(of shape, drop bool) shape {
	return func(v json.RawMessage) (json.RawMessage, error) {
		if isNull(v) {
			return v, nil
		}
		var all []json.RawMessage
		if json.Unmarshal(v, &all) != nil {
			return nil, errors.New("it is not a list")
		}
		kept := all[:0]
		for _, one := range all {
			clean, err := of(one)
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
	errKind   = errors.New("is not passed on") // of a value of a kind that is not named
)

// kinds is an object with a type that decides its shape; "" is the one without a type. A type
// may end in *, for the date of its version.
func kinds(of map[string]shape) shape {
	return func(v json.RawMessage) (json.RawMessage, error) {
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
		return to(v)
	}
}

func isNull(v json.RawMessage) bool { return string(v) == "null" }

// maxValues bounds the values in a request. Each takes memory beyond its bytes.
const maxValues = 250_000

// checkJSON refuses what is no JSON, what has too many values, and an object that has a
// name twice: two readers of it need not choose the same.
func checkJSON(b []byte) error {
	if !json.Valid(b) {
		var v json.RawMessage
		return json.Unmarshal(b, &v)
	}
	type container struct {
		names map[string]bool // nil: a list
		name  bool            // a name comes next
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

// literalEnd is where the string literal that begins at i ends; the JSON is valid.
func literalEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}
