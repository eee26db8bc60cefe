package sia

import (
	"fmt"
	"reflect"
)

// Mask removes text that must not be stored, such as a secret. It is
// idempotent.
type Mask func(string) string

// Masked returns a deep copy of v with every text in it masked: in fields, elements, pointers, interfaces and values of
// maps. It does not change v. So a new field is masked by default.
//
// A text is a string of the type string. Strings of a defined type, such as [TaskID], keys of maps and bytes are not
// masked. A field's tag overrides this:
//
//	mask:"-"     not masked: it is used for lookups, or only code sets it
//	mask:"text"  masked, although it is of a defined type: it may contain any word that a person wrote
//
// TestMasked lists the unmasked fields of events and tasks, with the reasons. Masked panics on any other tag.
func Masked[T any](v T, mask Mask) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(maskedValue(reflect.ValueOf(&v).Elem(), mask))
	masked, _ := out.Interface().(T) // nil when v is a nil interface
	return masked
}

func maskedValue(v reflect.Value, mask Mask) reflect.Value {
	if !mayHoldText(v.Type()) || v.IsZero() {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(mask(v.String()))
	case reflect.Interface:
		out.Set(maskedValue(v.Elem(), mask))
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(maskedValue(v.Elem(), mask))
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(maskedValue(v.Index(i), mask))
		}
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(maskedValue(v.Index(i), mask))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), maskedValue(it.Value(), mask))
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				out.Field(i).Set(maskedField(f, v.Field(i), mask))
			}
		}
	}
	return out
}

func maskedField(f reflect.StructField, v reflect.Value, mask Mask) reflect.Value {
	switch tag := f.Tag.Get("mask"); tag {
	case "":
		return maskedValue(v, mask)
	case "-":
		return v
	case "text":
		out := reflect.New(v.Type()).Elem()
		out.SetString(mask(v.String()))
		return out
	default:
		panic(fmt.Sprintf("field %s has the tag mask:%q, which says nothing", f.Name, tag))
	}
}

// mayHoldText reports whether values of a type may contain a text, judged by the type alone.
func mayHoldText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return t == reflect.TypeFor[string]()
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map:
		return mayHoldText(t.Elem())
	default:
		return t.Kind() == reflect.Struct || t.Kind() == reflect.Interface
	}
}
