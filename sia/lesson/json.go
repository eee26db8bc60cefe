package lesson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// JSONPath is the file for programs beside lessons.md. It holds every lesson whole, also forgotten
// and merged ones, as SIA last wrote them. Where lessons.md differs, a person edited it, whoever
// committed the edit.
const JSONPath = ".sia/lessons.json"

// JSONVersion is the version of that file. A later one is not read.
const JSONVersion = 1

type jsonFile struct {
	SchemaVersion int      `json:"schema_version"`
	Lessons       []Lesson `json:"lessons"`

	// Evidence that belongs to no task. Each task's file has the evidence of its task.
	Evidence []Evidence `json:"evidence,omitempty"`
}

// JSON writes the file for programs. Everything stands in the order given, which is the order of
// learning, so that the same lessons give the same bytes.
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

// maxJSON is how large a lessons.json may be that is read, in bytes. It has the lessons that the sheet leaves out, too.
const maxJSON = 64 << 20

// ParseJSON reads what [JSON] wrote, as lessons of a repository.
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
