package yamlfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/sia-bot/sia/sia/text"
)

// Want contains constraints on a value in addition to its type. For a list they apply to each item, for a table to each
// entry.
type Want struct {
	Min, Max float64             // bounds of numbers, of durations in seconds, of texts in characters; Max 0: none
	Words    []string            // possible values of a text; empty: any
	Wrong    func(string) string // returns what is wrong with a text, "" if it is valid; nil: any is valid

	item bool // the value is an item of a list
}

// field is a key that a file may have.
type field struct {
	key  string
	at   reflect.Value
	want Want
}

// Into decodes the file into a struct, or into the pointers that a map[string]any has for the top-level keys. want
// returns the constraints on each field; nil: those of its tag range, such as range:"0,0.5", which is inclusive.
func (f *File) Into(into any, want func(path string) Want) {
	if f.body == nil {
		return
	}
	f.root = fieldsOf(reflect.ValueOf(into), "", want)
	f.mapping(f.body, "", f.root, want)
}

// fieldsOf returns the keys of a struct, a pointer to one, or a map of pointers.
func fieldsOf(of reflect.Value, path string, want func(string) Want) (fields []field) {
	if sections, ok := of.Interface().(map[string]any); ok {
		for _, key := range slices.Sorted(maps.Keys(sections)) {
			f := field{key: key, at: reflect.ValueOf(sections[key]).Elem()}
			if want != nil {
				f.want = want(key)
			}
			fields = append(fields, f)
		}
		return fields
	}
	for one, at := range reflect.Indirect(of).Fields() {
		key, _, _ := strings.Cut(one.Tag.Get("yaml"), ",")
		if key == "" || key == "-" {
			continue
		}
		f := field{key: key, at: at}
		if want != nil {
			f.want = want(below(path, key))
		} else if bounds := one.Tag.Get("range"); bounds != "" {
			_, _ = fmt.Sscanf(bounds, "%g,%g", &f.want.Min, &f.want.Max) // a test checks every tag
		}
		fields = append(fields, f)
	}
	return fields
}

func below(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// mapping decodes the values of some keys. It ignores the content of an unknown key.
func (f *File) mapping(n ast.Node, path string, fields []field, want func(string) Want) {
	f.entries(n, path, example(fields), func(v *ast.MappingValueNode, key, at string) {
		i := slices.IndexFunc(fields, func(one field) bool { return one.key == key })
		if i < 0 {
			if path != "" || !f.form.Lenient {
				f.unknown(v, at, key, fields, want)
			}
			return
		}
		f.value(v.Value, at, fields[i].at, fields[i].want, want)
	})
}

// entries calls each for the entries of a mapping. It accepts an empty value, because all entries may be commented out.
func (f *File) entries(n ast.Node, path, example string, each func(v *ast.MappingValueNode, key, at string)) {
	values := f.pairs(n, maxMerges)
	if _, empty := n.(*ast.NullNode); values == nil && !empty && n.Type() != ast.MappingType {
		what := "the file"
		if path != "" {
			what = "this section"
		}
		f.problem(n.GetToken(), path, "", "want %ss, one a line such as `%s`; %s is %s", f.form.Key, example, what,
			f.kind(n))
		return
	}
	seen := map[string]bool{}
	for _, v := range values {
		name, ok := f.scalar(v.Key)
		if !ok {
			f.problem(v.Key.GetToken(), path, "", "names of %ss are plain words; this is %s", f.form.Key, f.kind(v.Key))
			continue
		}
		at := below(path, name)
		if seen[name] {
			f.problem(v.Key.GetToken(), at, "", "set twice; keep one")
			continue
		}
		seen[name] = true
		f.at[at] = v.Key.GetToken()
		each(v, name, at)
	}
}

// unknown records an unknown key. It searches for a suggestion among the siblings first, then in the whole file.
func (f *File) unknown(v *ast.MappingValueNode, path, key string, beside []field, want func(string) Want) {
	var keys []string
	for _, one := range beside {
		keys = append(keys, one.key)
	}
	near, among := text.Nearest(key, keys), ""
	if near == "" {
		near = pathOf(f.root, "", key, want)
	}
	if near == "" {
		among = "; there are " + strings.Join(keys, ", ")
	}
	f.problem(v.Key.GetToken(), path, near, "there is no such %s%s", f.form.Key, among)
}

// pathOf returns the path of the first key of a name; empty if there is none.
func pathOf(fields []field, path, key string, want func(string) Want) string {
	for _, one := range fields {
		at := below(path, one.key)
		if one.key == key {
			return at
		}
		if one.at.Kind() == reflect.Struct {
			if found := pathOf(fieldsOf(one.at, at, want), at, key, want); found != "" {
				return found
			}
		}
	}
	return ""
}

// example returns a line that a section may contain: its first key that is not a section, with its default value.
func example(fields []field) string {
	for _, one := range fields {
		if one.at.Kind() != reflect.Struct {
			return one.key + ": " + Format(one.at.Interface())
		}
	}
	return "key: value"
}

// value decodes a node into a field.
func (f *File) value(n ast.Node, path string, into reflect.Value, w Want, want func(string) Want) {
	n = f.plain(n)
	_, empty := n.(*ast.NullNode)
	switch kind := into.Kind(); {
	case empty && (kind == reflect.Slice || kind == reflect.Map || f.form.Lenient):
		delete(f.at, path) // all items are commented out: it is not set
	case isDuration(into.Type()):
		f.duration(n, path, into, w)
	case kind == reflect.Struct:
		f.mapping(n, path, fieldsOf(into, path, want), want)
	case kind == reflect.Map:
		f.table(n, path, into, w, want)
	case kind == reflect.Slice:
		f.list(n, path, into, w, want)
	case kind == reflect.Bool:
		f.boolean(n, path, into)
	case kind == reflect.Int:
		f.integer(n, path, into, w)
	case kind == reflect.Float64:
		f.number(n, path, into, w)
	case kind == reflect.String:
		f.text(n, path, into, w)
	default:
		panic("yamlfile: nothing is known of the type " + into.Type().String())
	}
}

// table decodes entries over the existing ones, in a copy of the map.
func (f *File) table(n ast.Node, path string, into reflect.Value, w Want, want func(string) Want) {
	whole := reflect.MakeMap(into.Type())
	for e := into.MapRange(); e.Next(); {
		whole.SetMapIndex(e.Key(), e.Value())
	}
	f.entries(n, path, "name: value", func(v *ast.MappingValueNode, key, at string) {
		name, item := reflect.ValueOf(key).Convert(into.Type().Key()), reflect.New(into.Type().Elem()).Elem()
		if was := whole.MapIndex(name); was.IsValid() {
			item.Set(was)
		}
		f.value(v.Value, at, item, w, want)
		whole.SetMapIndex(name, item)
	})
	into.Set(whole)
}
