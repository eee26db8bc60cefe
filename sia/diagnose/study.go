package diagnose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
	"github.com/sia-bot/sia/sia/text"
)

// SolvedTask is a task that a user's push solved after SIA had failed.
type SolvedTask struct {
	Task    sia.Task
	Paths   []string           // paths that the push changed
	Diff    string             // unified diff from SIA's last commit to the user's
	Library *technique.Library // nil: the built-in techniques
	NoModel string             // why no model may be asked; then only the paths are named

}

// FixLesson is the lesson of a user's push.
type FixLesson struct {
	Summary   string               // what the user did differently
	Resembles sia.TechniqueID      // known technique of which the push is an instance; "" for none
	Technique *technique.Technique // proposed new technique with an unused id; nil for none
	Fallback  string               // why this is not a model's answer; "" when it is
}

const (
	studyTokens   = 12_000
	maxLessonText = 600 // characters
	maxPathsSaid  = 5
	maxIDTries    = 20
)

// studyAnswer is the model's answer.
type studyAnswer struct {
	Summary      string   `json:"summary"`
	Resembles    string   `json:"resembles"`
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	When         string   `json:"when"`
	Patterns     []string `json:"patterns"`
	Changes      []string `json:"changes"`
	Instructions string   `json:"instructions"`
}

// Study determines what a user did differently. If the model fails, the summary lists the paths, and Fallback is the
// reason. Study fails when ctx is done, and when it has to be called again, see LastTry.
func (d *Diagnoser) Study(ctx context.Context, in SolvedTask) (l FixLesson, usage llm.Usage, err error) {
	in.Library = library(in.Library)
	why, err := askModel(ctx, d.Model, in.NoModel, d.Log, "study the fix of task "+string(in.Task.ID),
		"fix studied by rules", func() error { return d.askWhatChanged(ctx, in, &l, &usage) })
	if err != nil || why != "" {
		l = FixLesson{Summary: changedPaths(in.Paths), Fallback: why}
	}
	return l, usage, err
}

func changedPaths(paths []string) string {
	if len(paths) == 0 {
		return "A person's push made the checks green."
	}
	said := make([]string, 0, maxPathsSaid)
	for _, p := range paths[:min(len(paths), maxPathsSaid)] {
		said = append(said, "`"+text.Clip(text.OneLine(cleanText(p)), 120)+"`")
	}
	s := "A person's push made the checks green; it changed " + strings.Join(said, ", ")
	if more := len(paths) - len(said); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s + "."
}

func (d *Diagnoser) askWhatChanged(ctx context.Context, in SolvedTask, l *FixLesson, usage *llm.Usage) error {
	c := conversation{model: d.Model, timeout: d.Timeout, lastTry: d.LastTry, usage: usage}
	all := Input{Library: in.Library}
	values := map[string]any{"Techniques": techniqueLines(all), "Patterns": patternList(), "Changes": technique.Changes}
	c.open("study", values, studyTokens, func(room int) string { return solvedEvidence(in, room) })
	return c.ask(ctx, studySchema(in.Library), func(raw []byte) (err error) {
		*l, err = parseStudied(raw, in.Library)
		return err
	})
}

func studySchema(l *technique.Library) *llm.Schema {
	tree := loadSchema("study")
	properties := tree["properties"].(map[string]any)
	ids, changes := []any{}, []any{}
	for _, t := range l.All() {
		ids = append(ids, string(t.ID))
	}
	for _, c := range technique.Changes {
		changes = append(changes, string(c))
	}
	setEnum(properties["resembles"], append(ids, ""))
	setEnum(properties["patterns"].(map[string]any)["items"], patternNames())
	setEnum(properties["changes"].(map[string]any)["items"], changes)
	return wireSchema("study", tree)
}

// solvedEvidence formats the input, within room bytes.
func solvedEvidence(in SolvedTask, room int) string {
	var b strings.Builder
	add := func(heading, content string, percent int, keep text.End) {
		if content = cleanText(content); content != "" {
			fmt.Fprintf(&b, "## %s\n\n%s\n\n", heading,
				text.Fence(text.Fit(content, max(200, room*percent/100-len(heading)-40), keep)))
		}
	}
	t := in.Task
	add("The task", visibleIssue(t.Title, t.Body), 15, text.Head)
	past := Input{Task: t}
	if a := t.Attempt(); a != nil {
		past.Attempt = *a
	}
	add("What failed, newest first", failuresText(past), 20, text.Head)
	add("What SIA tried, newest first", history(past), 15, text.Head)
	add("What the person changed, compared with the agent's last commit", in.Diff, 50, text.Head)
	return strings.TrimSpace(b.String())
}

// parseStudied parses the model's answer. An error tells the model what to fix.
func parseStudied(raw []byte, known *technique.Library) (FixLesson, error) {
	var s studyAnswer
	if err := json.Unmarshal(raw, &s); err != nil {
		return FixLesson{}, fmt.Errorf("not as asked: %w", err)
	}
	summary := text.Clip(text.OneLine(cleanText(s.Summary)), maxLessonText)
	l := FixLesson{Summary: summary, Resembles: sia.TechniqueID(s.Resembles)}
	if l.Summary == "" {
		return FixLesson{}, errors.New("summary is empty")
	}
	if l.Resembles != "" {
		if _, ok := known.Get(l.Resembles); !ok {
			return FixLesson{}, fmt.Errorf("resembles: there is no technique %q", s.Resembles)
		}
		return l, nil
	}
	if s.Name == "" && s.Instructions == "" {
		return l, nil // nothing general in it
	}
	t := technique.Technique{
		ID: freeID(known, s.ID), Name: text.OneLine(cleanText(s.Name)),
		When:  strings.TrimSuffix(text.OneLine(cleanText(s.When)), "."),
		Ranks: map[sia.Pattern]int{}, Prompt: cleanText(s.Instructions), Trial: true,
	}
	for i, p := range s.Patterns {
		t.Ranks[sia.Pattern(p)] = min(i+2, 5) // unproven: never the first choice
	}
	for _, c := range s.Changes {
		if !slices.Contains(t.Changes, technique.Change(c)) {
			t.Changes = append(t.Changes, technique.Change(c))
		}
	}
	if _, err := technique.EncodeFile(t); err != nil {
		return FixLesson{}, err
	}
	l.Technique = &t
	return l, nil
}

// freeID returns an unused id of a technique, want or want with a number.
func freeID(known *technique.Library, want string) sia.TechniqueID {
	id := sia.TechniqueID(want)
	for n := 2; n < maxIDTries; n++ {
		if _, taken := known.Get(id); !taken {
			break
		}
		id = sia.TechniqueID(fmt.Sprintf("%s-%d", want, n))
	}
	return id
}
