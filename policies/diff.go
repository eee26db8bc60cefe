package policies

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Change is one field in which two policies differ.
type Change struct {
	Path string `json:"path"` // path in the file; items of lists have numbers, from 1: rules.2.bonus.retry
	Old  string `json:"old"`  // "" for an absent field
	New  string `json:"new"`
}

// String returns, for example, "parameters.threshold: 0.65 -> 0.2".
func (c Change) String() string {
	return fmt.Sprintf("%s: %s -> %s", c.Path, cmp.Or(c.Old, "(none)"), cmp.Or(c.New, "(none)"))
}

// Diff returns the fields in which two policies differ, sorted by path. Fields that a file leaves out have their
// effective value, so equivalent files differ only in their heads.
func Diff(a, b Policy) (changes []Change) {
	old, now := a.fields(), b.fields()
	paths := slices.Collect(maps.Keys(old))
	for p := range now {
		if _, both := old[p]; !both {
			paths = append(paths, p)
		}
	}
	slices.SortFunc(paths, byPath)
	for _, p := range paths {
		if old[p] != now[p] {
			changes = append(changes, Change{p, old[p], now[p]})
		}
	}
	return changes
}

// Fields returns the effective fields of a policy and its head, sorted by path, as Change.New.
func (p Policy) Fields() (all []Change) {
	for path, v := range p.fields() {
		all = append(all, Change{Path: path, New: v})
	}
	slices.SortFunc(all, func(a, b Change) int { return byPath(a.Path, b.Path) })
	return all
}

// byPath compares paths by their parts, numbers numerically.
func byPath(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		n, errX := strconv.Atoi(x)
		m, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return n - m
		}
		return cmp.Compare(x, y)
	})
}

// fields returns a policy's fields by path, as text. Unset fields are left out.
func (p Policy) fields() map[string]string {
	out := map[string]string{"decision": string(p.Decision), "name": p.Name, "version": strconv.Itoa(p.Version)}
	flatten(reflect.ValueOf(p.Reasoning), "reasoning", out)
	flatten(reflect.ValueOf(p.Selector), "selector", out)
	if p.body != nil {
		for key, at := range p.body.Sections() {
			flatten(reflect.ValueOf(at).Elem(), key, out)
		}
	}
	return out
}

// flatten adds the values below a path as text. Lists of words are one field.
func flatten(v reflect.Value, path string, into map[string]string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			if name != "" && name != "-" && (option != "omitempty" || !v.Field(i).IsZero()) {
				flatten(v.Field(i), path+"."+name, into)
			}
		}
	case reflect.Map:
		for e := v.MapRange(); e.Next(); {
			flatten(e.Value(), path+"."+e.Key().String(), into)
		}
	case reflect.Slice:
		if words, ok := v.Interface().([]string); ok {
			into[path] = "[" + strings.Join(inWords(words), ", ") + "]"
			return
		}
		for i := range v.Len() {
			flatten(v.Index(i), path+"."+strconv.Itoa(i+1), into)
		}
	case reflect.String:
		if s := v.String(); s != "" {
			into[path] = strconv.Quote(s)
		}
	default:
		into[path] = fmt.Sprint(v.Interface())
		if d, ok := v.Interface().(time.Duration); ok {
			into[path] = d.String()
		}
	}
}
