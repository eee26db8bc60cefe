// Package secrettest finds the strings of a value that masking leaves unmasked, for tests that every type masks its
// external text. New fields are found automatically.
//
// It imports no package of this module; only tests import it. Start reading at Unmasked.
package secrettest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The content of every string, before and after masking.
const secret, masked = "secret", "masked"

// Mask masks the content of every string.
func Mask(text string) string { return strings.ReplaceAll(text, secret, masked) }

// Unmasked fills every string within a value of v's type, masks the value with mask, and returns the strings left
// unmasked: plain strings as "Type.Field", strings of a named type by that type's name. It fails the test if mask
// changes anything else, or its argument. Keys of maps and contents of interfaces are ignored.
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

// fill sets every string to the secret, and adds one element to every slice and map.
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

// look calls found for each string that still is the secret. field is the innermost struct field, as "Type.Field".
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
