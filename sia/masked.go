package sia

import (
	"fmt"
	"reflect"
)

// Mask takes what must not be kept out of a text, such as a secret. It is
// idempotent.
type Mask func(string) string

// Masked is a copy of v with every text in it masked, however deep: in fields, elements, what pointers and interfaces
// hold, and values of maps. v itself is not changed. So a field that somebody adds is masked without being thought of.
//
// A text is a string of the type string. Strings of a type of their own stay, such as a [TaskID] or one of a few
// words, and so do keys of maps and bytes. A field's tag says where it is otherwise:
//
//	mask:"-"     it stays: something is found by it, or only code makes it
//	mask:"text"  it is masked, though it is of a type of its own: it may be any word that a person wrote
//
// TestMasked lists what stays in events and tasks, with the reason. Masked panics on any other tag.
func Masked[T any](v T, mask Mask) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(maskedValue(reflect.ValueOf(&v).Elem(), mask))
	masked, _ := out.Interface().(T) // nil when v is a nil interface
	return masked
}

func maskedValue(v reflect.Value, mask Mask) reflect.Value {
	if !holdsText(v.Type()) || v.IsZero() {
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

// holdsText reports whether values of a type may hold a text, as far as the type itself tells.
func holdsText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return t == reflect.TypeFor[string]()
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map:
		return holdsText(t.Elem())
	default:
		return t.Kind() == reflect.Struct || t.Kind() == reflect.Interface
	}
}
