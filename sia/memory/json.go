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
			ours, err = mergeObject(ours, previous, reflect.TypeFor[File]())
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

// mergeObject writes our fields in our order, then the fields of the previous object that t does not have, sorted. A
// field of t that ours omits is removed. The tag "merge" of a field says what else of the previous value is kept:
// "object": likewise, of an object; "missing": all of it, if ours omits the field; otherwise, of a list of objects,
// likewise of each that ours has, too, as identified by the named fields, and after ",keep" the others, after ours.
// Either side may be null.
func mergeObject(ours, previous []byte, t reflect.Type) ([]byte, error) {
	var old, own map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(previous, &old), json.Unmarshal(ours, &own)); err != nil || own == nil {
		return ours, err
	}
	var out bytes.Buffer
	write := func(key string, value []byte) error {
		name, err := encodeJSON(key)
		fmt.Fprintf(&out, ",%s:%s", name, value)
		return err
	}
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, before := own[key], old[key]
		delete(old, key)
		var err error
		switch how := f.Tag.Get("merge"); {
		case how == "missing" && value == nil:
			value = before
		case how == "" || how == "missing" || value == nil || before == nil:
		case how == "object":
			value, err = mergeObject(value, before, f.Type.Elem())
		default:
			value, err = mergeList(value, before, f.Type.Elem(), how)
		}
		if err == nil && value != nil {
			err = write(key, value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if err := write(key, old[key]); err != nil {
			return nil, err
		}
	}
	return slices.Concat([]byte("{"), bytes.TrimPrefix(out.Bytes(), []byte(",")), []byte("}")), nil
}

// mergeList merges lists of objects of type t; how is the tag of the field ([mergeObject]).
func mergeList(ours, previous []byte, t reflect.Type, how string) ([]byte, error) {
	var own, old []json.RawMessage
	if err := errors.Join(json.Unmarshal(previous, &old), json.Unmarshal(ours, &own)); err != nil {
		return nil, err
	}
	keys, keep := strings.CutSuffix(how, ",keep")
	before, seen := map[string]json.RawMessage{}, map[string]bool{}
	for _, item := range old {
		id, err := itemIdentity(item, keys)
		if err != nil {
			return nil, err
		}
		before[id] = item
	}
	for i, item := range own {
		id, err := itemIdentity(item, keys)
		if seen[id] = true; err == nil && before[id] != nil {
			own[i], err = mergeObject(item, before[id], t)
		}
		if err != nil {
			return nil, err
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
