// Package secrettest finds what is left of a value's strings when it is masked, for
// tests that hold every type to masking whatever can come from outside. A field that
// somebody adds is found without anybody thinking of it.
//
// It imports nothing of ours; only tests import it. Start reading at Unmasked.
package secrettest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// what every string holds, and what it is masked as.
const secret, masked = "secret", "masked"

// Mask masks the one secret there is.
func Mask(text string) string { return strings.ReplaceAll(text, secret, masked) }

// Unmasked fills every string within a value of v's type, has it masked by mask, and
// lists what stayed: plain strings as "Type.Field", strings of a type of their own by
// that type's name. It fails the test where mask changes anything else, or the value
// that it is given. Keys of maps and what interfaces hold are not looked at.
func Unmasked[T any](t testing.TB, v T, mask func(T) T) []string {
	t.Helper()
	filled := reflect.New(reflect.TypeOf(v)).Elem()
	fill(filled)
	before := encoded(t, filled.Interface())
	got := mask(filled.Interface().(T))
	if after := encoded(t, filled.Interface()); after != before {
		t.Errorf("%T was changed itself: %s", v, after)
	}
	if back := strings.ReplaceAll(encoded(t, got), masked, secret); back != before {
		t.Errorf("%T was changed in more than its texts:\n%s\n%s", v, before, back)
	}
	var stayed []string
	look(reflect.ValueOf(got), "", func(name string) { stayed = append(stayed, name) })
	slices.Sort(stayed)
	return slices.Compact(stayed)
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fill puts the secret into every string, and one element into everything that can
// have some.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(secret)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}

// look calls found for each string that holds the secret still. field is the last one
// on the way, as "Type.Field".
func look(v reflect.Value, field string, found func(name string)) {
	switch v.Kind() {
	case reflect.String:
		switch {
		case v.String() != secret:
		case v.Type() != reflect.TypeFor[string]():
			found(v.Type().Name())
		default:
			found(field)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			look(v.Elem(), field, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			look(v.Index(i), field, found)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			look(it.Value(), field, found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				look(v.Field(i), v.Type().Name()+"."+f.Name, found)
			}
		}
	}
}
