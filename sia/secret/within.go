package secret

import (
	"reflect"
)

// Within is v with secrets masked in every string that it holds, however deep:
// in exported fields, elements, map values and what pointers and interfaces hold.
// Keys of maps and bytes stay. v itself is not changed; what holds no secret is
// shared with it.
func Within[T any](m *Masker, v T) T {
	got, changed := m.within(reflect.ValueOf(&v).Elem())
	if !changed {
		return v
	}
	return got.Interface().(T)
}

// within is v with secrets masked, and whether that changed it.
func (m *Masker) within(v reflect.Value) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.String:
		if text := m.Mask(v.String()); text != v.String() {
			out := reflect.New(v.Type()).Elem()
			out.SetString(text)
			return out, true
		}
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			break
		}
		in, changed := m.within(v.Elem())
		if !changed {
			break
		}
		if v.Kind() == reflect.Interface {
			out := reflect.New(v.Type()).Elem()
			out.Set(in)
			return out, true
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(in)
		return out, true
	case reflect.Struct:
		return m.parts(v, v.NumField(), func(s reflect.Value, i int) reflect.Value { return s.Field(i) }, func() reflect.Value {
			out := reflect.New(v.Type()).Elem()
			out.Set(v)
			return out
		})
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		return m.parts(v, v.Len(), reflect.Value.Index, func() reflect.Value {
			out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(out, v)
			return out
		})
	case reflect.Map:
		out, copied := v, false
		for it := v.MapRange(); it.Next(); {
			if e, changed := m.within(it.Value()); changed {
				if !copied {
					out, copied = reflect.MakeMap(v.Type()), true
					for all := v.MapRange(); all.Next(); {
						out.SetMapIndex(all.Key(), all.Value())
					}
				}
				out.SetMapIndex(it.Key(), e)
			}
		}
		return out, copied
	}
	return v, false
}

// parts masks a value's n parts in a copy that is made when the first changes.
func (m *Masker) parts(v reflect.Value, n int, part func(reflect.Value, int) reflect.Value, clone func() reflect.Value) (reflect.Value, bool) {
	out, copied := v, false
	for i := range n {
		p := part(v, i)
		if !p.CanInterface() {
			continue // an unexported field, which this package may not set
		}
		if masked, changed := m.within(p); changed {
			if !copied {
				out, copied = clone(), true
			}
			part(out, i).Set(masked)
		}
	}
	return out, copied
}
