package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// decodeArgs decodes a call's arguments into the struct that into points to. They must be a single object without
// unknown keys. Its errors list the valid arguments.
func decodeArgs(args json.RawMessage, into any) error {
	if len(args) > MaxArgs {
		return fmt.Errorf("the arguments are %d bytes long; at most %d are taken: work in smaller parts", len(args), MaxArgs)
	}
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil && bytes.TrimSpace(args)[0] != '{' { // null decodes without an error
		err = errors.New("no object")
	}
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("there is something after the object")
		}
	}
	if err == nil {
		return nil
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	takes := "it takes " + strings.Join(argNames(into), ", ")
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("argument %q must be %s, not a %s; %s", kind.Field, kindName(kind.Type), kind.Value, takes)
	case strings.Contains(err.Error(), "unknown field"):
		return fmt.Errorf("there is no argument %s; %s", strings.TrimPrefix(err.Error(), "json: unknown field "), takes)
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the arguments are not valid JSON (%s); %s", strings.TrimPrefix(err.Error(), "json: "), takes)
	}
	return fmt.Errorf("the arguments must be one JSON object (%s); %s", strings.TrimPrefix(err.Error(), "json: "), takes)
}

// argNames returns the JSON names of a struct's fields.
func argNames(v any) []string {
	t := reflect.TypeOf(v).Elem()
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	}
	return "a string"
}
