package lesson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// JSONPath is the machine-readable file next to lessons.md. It contains every lesson in full, including forgotten and
// merged ones, as SIA last wrote them. Where lessons.md differs, a user edited it, regardless of the committer.
const JSONPath = ".sia/lessons.json"

// JSONVersion is the schema version of that file. Files of later versions are rejected.
const JSONVersion = 1

type jsonFile struct {
	SchemaVersion int      `json:"schema_version"`
	Lessons       []Lesson `json:"lessons"`

	// Evidence without a task. Evidence of a task is in the task's file.
	Evidence []Evidence `json:"evidence,omitempty"`
}

// JSON returns the content of the machine-readable file. The order is that of the arguments, which is the order of
// learning, so that the same lessons yield the same bytes.
func JSON(lessons []Lesson, evidence []Evidence) ([]byte, error) {
	f := jsonFile{JSONVersion, slices.Clone(lessons), evidence}
	if f.Lessons == nil {
		f.Lessons = []Lesson{}
	}
	for i := range f.Lessons {
		l := &f.Lessons[i]
		l.CountedAt, l.CreatedAt, l.LastSeen = l.CountedAt.UTC(), l.CreatedAt.UTC(), l.LastSeen.UTC()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f); err != nil {
		return nil, fmt.Errorf("write %s: %w", JSONPath, err)
	}
	return b.Bytes(), nil
}

// maxJSON is the maximum size of a lessons.json, in bytes. It includes lessons that lessons.md leaves out.
const maxJSON = 64 << 20

// ParseJSON parses the output of [JSON] as lessons of a repository.
func ParseJSON(repo int64, file []byte) ([]Lesson, []Evidence, error) {
	if len(file) > maxJSON {
		return nil, nil, fmt.Errorf("read %s: %d bytes; at most %d are read", JSONPath, len(file), maxJSON)
	}
	var f jsonFile
	if err := json.Unmarshal(file, &f); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", JSONPath, err)
	}
	if f.SchemaVersion > JSONVersion {
		return nil, nil, fmt.Errorf("read %s: schema_version %d is newer than %d, the newest this SIA reads: update SIA",
			JSONPath, f.SchemaVersion, JSONVersion)
	}
	seen := map[ID]bool{}
	for i := range f.Lessons {
		l := &f.Lessons[i]
		if l.Repo = repo; !l.ID.Valid() || seen[l.ID] {
			return nil, nil, fmt.Errorf("read %s: lesson %d: %w", JSONPath, i+1, errID)
		}
		seen[l.ID] = true
	}
	return f.Lessons, f.Evidence, nil
}

var errID = errors.New("its id is none, or stands there twice")
