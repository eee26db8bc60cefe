package memory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
)

// maxFile is the maximum size of a memory file, in bytes.
const maxFile = 8 << 20

// JSON returns the new content of a task's JSON file, given its previous content or nil. Unknown fields are kept, and
// so are attempts and learnings that the task does not have. If the previous content is unreadable, the error is a
// *[BrokenFile], and the file must not be overwritten.
func JSON(t sia.Task, links Links, previous []byte) ([]byte, error) {
	f := FromTask(t, links)
	ours, err := encodeJSON(f)
	if err != nil {
		return nil, fmt.Errorf("memory of task %s: %w", t.ID, err)
	}
	if len(bytes.TrimSpace(previous)) > 0 {
		_, path := Paths(t)
		if _, err := ParseJSON(path, previous); err != nil {
			return nil, err
		}
		if previous, err = upgradeFile(previous); err == nil {
			ours, err = mergeFile(ours, previous)
		}
		if err != nil {
			return nil, &BrokenFile{Path: path, Err: err}
		}
	}
	var out bytes.Buffer
	if err := json.Indent(&out, ours, "", "  "); err != nil {
		return nil, fmt.Errorf("memory of task %s: %w", t.ID, err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// encodeJSON is json.Marshal without HTML escapes, because people read these files.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// ParseJSON parses a task's JSON file. Its errors are *[BrokenFile].
func ParseJSON(path string, file []byte) (File, error) {
	broken := func(line int, err error) (File, error) {
		return File{}, &BrokenFile{Path: path, Line: line, Err: err}
	}
	if len(file) > maxFile {
		return broken(0, fmt.Errorf("%d bytes; at most %d are read", len(file), maxFile))
	}
	if !utf8.Valid(file) {
		return broken(0, errors.New("the file is not UTF-8 text"))
	}
	var f File
	if err := json.Unmarshal(file, &f); err != nil {
		return broken(explainJSON(file, err))
	}
	if f.SchemaVersion > SchemaVersion {
		return broken(0, fmt.Errorf("schema_version %d is newer than %d, the newest this SIA reads: update SIA",
			f.SchemaVersion, SchemaVersion))
	}
	newest, err := upgradeFile(file)
	if err == nil {
		f = File{}
		err = json.Unmarshal(newest, &f)
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return broken(0, err)
	}
	f.CreatedAt = f.CreatedAt.UTC()
	return f, nil
}

// explainJSON returns the line of an error of json.Unmarshal, if it is known, and the error in words for people.
func explainJSON(file []byte, err error) (line int, _ error) {
	lineAt := func(offset int64) int {
		return 1 + bytes.Count(file[:min(max(0, offset-1), int64(len(file)))], []byte("\n"))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return lineAt(syntax.Offset), err
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return lineAt(wrong.Offset), fmt.Errorf("%s can't be a JSON %s", cmp.Or(wrong.Field, "the file"), wrong.Value)
	}
	return 0, err
}

// The values of fields in the file.
var (
	outcomes = []sia.AttemptOutcome{sia.AttemptPass, sia.AttemptFail, sia.AttemptCheckpoint, sia.AttemptError,
		sia.AttemptCancelled, sia.AttemptAsked}
	aftermaths = []sia.Aftermath{sia.MergedUnchanged, sia.MergedEdited, sia.Abandoned}
)

// check returns an error if a value is missing by which the file, an attempt or a part is known, or if a status or an
// outcome is none of SIA's.
func (f File) check() error {
	if f.SchemaVersion < 1 || f.TaskID == "" || f.Status == "" || f.Attempts == nil {
		return errors.New("schema_version, task_id, status or attempts is missing")
	}
	if err := errors.Join(oneOf("status", f.Status, sia.States), oneOf("aftermath", f.Aftermath, aftermaths)); err != nil {
		return err
	}
	for i, p := range f.PromptsTried {
		if err := oneOf(fmt.Sprintf("prompts_tried[%d].outcome", i), p.Outcome, outcomes); err != nil {
			return err
		}
	}
	for i, a := range f.Attempts {
		if a.AttemptNumber < 1 {
			return fmt.Errorf("attempts[%d] has no attempt_number of 1 or more", i)
		}
		if err := oneOf(fmt.Sprintf("attempts[%d].outcome", i), a.Outcome, outcomes); err != nil {
			return err
		}
		for j, p := range a.Parts {
			if p.Number < 1 {
				return fmt.Errorf("attempts[%d].parts[%d] has no number of 1 or more", i, j)
			}
		}
	}
	return nil
}

// oneOf returns an error if a field has a value that is none of all.
func oneOf[T ~string](field string, value T, all []T) error {
	if value == "" || slices.Contains(all, value) {
		return nil
	}
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return fmt.Errorf("%s: %q is none of %s", field, value, strings.Join(words, ", "))
}

// mergeFile adds the parts of the previous file that ours does not have.
func mergeFile(ours, previous []byte) ([]byte, error) {
	return mergeObject(ours, previous, reflect.TypeFor[File](), map[string]mergeFunc{
		"attempts": mergeList(reflect.TypeFor[Attempt](), "attempt_number", true, map[string]mergeFunc{
			"sia_intervention": func(o, p []byte) ([]byte, error) {
				return mergeObject(o, p, reflect.TypeFor[Intervention](), nil)
			},
			"diagnosis_after": func(o, p []byte) ([]byte, error) {
				return mergeObject(o, p, reflect.TypeFor[Diagnosis](), map[string]mergeFunc{"ratings": mergeRatings})
			},
			"transcript":   keepIfMissing,
			"decision_ids": keepIfMissing,
			"parts":        mergeParts,
		}),
		"learnings":     mergeList(reflect.TypeFor[Learning](), "pattern effective_technique", true, nil),
		"prompts_tried": mergeList(reflect.TypeFor[Prompt](), "hash", false, nil),
		"ratings":       mergeRatings,
		"record": func(o, p []byte) ([]byte, error) {
			return mergeObject(o, p, reflect.TypeFor[Record](), map[string]mergeFunc{
				"decisions": keepIfMissing, "outcomes": keepIfMissing, "evidence": keepIfMissing,
			})
		},
	})
}

// mergeFunc merges one value; ours is nil when we have no value.
type mergeFunc func(ours, previous []byte) ([]byte, error)

func mergeRatings(ours, previous []byte) ([]byte, error) {
	if ours == nil {
		return nil, nil // all ratings were removed
	}
	return mergeList(reflect.TypeFor[Rating](), "by", false, nil)(ours, previous)
}

func mergeParts(ours, previous []byte) ([]byte, error) {
	if ours == nil {
		return nil, nil // the attempt became a single run
	}
	return mergeList(reflect.TypeFor[Part](), "number", false, nil)(ours, previous)
}

func keepIfMissing(ours, previous []byte) ([]byte, error) {
	if ours == nil {
		return previous, nil
	}
	return ours, nil
}

// mergeObject writes our fields in our order, then the fields of the previous file that t does not have, sorted. A
// field of t that ours omits is removed, unless its function in fields keeps it. Either side may be null.
func mergeObject(ours, previous []byte, t reflect.Type, fields map[string]mergeFunc) ([]byte, error) {
	var old, own map[string]json.RawMessage
	if err := json.Unmarshal(previous, &old); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(ours, &own); err != nil {
		return nil, err
	}
	if own == nil {
		return ours, nil
	}
	var out bytes.Buffer
	out.WriteByte('{')
	write := func(key string, value []byte) error {
		name, err := encodeJSON(key)
		if err != nil {
			return err
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
		return nil
	}
	for _, key := range fieldNames(t) {
		value, before := own[key], old[key]
		if merge := fields[key]; merge != nil && before != nil {
			var err error
			if value, err = merge(value, before); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
		delete(old, key)
		if value != nil {
			if err := write(key, value); err != nil {
				return nil, err
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if err := write(key, old[key]); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// mergeList returns a function that merges lists of objects, identified by the values of keys (separated by spaces).
// With keep, items that only the previous list has are kept after ours.
func mergeList(t reflect.Type, keys string, keep bool, fields map[string]mergeFunc) mergeFunc {
	return func(ours, previous []byte) ([]byte, error) {
		var own, old []json.RawMessage
		if err := json.Unmarshal(previous, &old); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(ours, &own); err != nil {
			return nil, err
		}
		before := map[string]json.RawMessage{}
		for _, item := range old {
			id, err := itemIdentity(item, keys)
			if err != nil {
				return nil, err
			}
			before[id] = item
		}
		var err error
		seen := map[string]bool{}
		for i, item := range own {
			id, e := itemIdentity(item, keys)
			if e != nil {
				return nil, e
			}
			seen[id] = true
			if p, ok := before[id]; ok {
				if own[i], err = mergeObject(item, p, t, fields); err != nil {
					return nil, err
				}
			}
		}
		for _, item := range old {
			if id, _ := itemIdentity(item, keys); keep && !seen[id] {
				seen[id] = true
				own = append(own, item)
			}
		}
		return encodeJSON(own)
	}
}

// itemIdentity returns the values of a list item's keys in one string.
func itemIdentity(item json.RawMessage, keys string) (string, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(item, &m); err != nil {
		return "", err
	}
	var id []string
	for _, k := range strings.Fields(keys) {
		var v any
		if raw := m[k]; raw != nil {
			if err := json.Unmarshal(raw, &v); err != nil {
				return "", err
			}
		}
		id = append(id, fmt.Sprint(v))
	}
	return strings.Join(id, "\x00"), nil
}

// fieldNames returns the JSON names of a struct's fields, in order.
func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
