package diagnose

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// Limits on a model's answer, in characters.
const (
	maxSummary = 2000
	maxPrompt  = 8000
	maxList    = 20 // number of items of any list
)

// answer is the answer of a model or of the rules, before the hard rules are applied.
type answer struct {
	Diagnosis  string          `json:"diagnosis"`
	Pattern    sia.Pattern     `json:"pattern"`
	Technique  sia.TechniqueID `json:"technique"`
	Prompt     string          `json:"modified_prompt"`
	Hypothesis string          `json:"hypothesis"`
	Confidence float64         `json:"confidence"`
	Ratings    ratings         `json:"ratings"`
	Answers    sia.SixAnswers  `json:"answers"`

	Steps      []plan.Part `json:"steps"`
	Unsuitable []string    `json:"unsuitable_tools"`
	Context    []string    `json:"context_files"`
	Examples   []string    `json:"example_files"`
	Constraint string      `json:"constraint"`
	Level      string      `json:"level"`

	NeedsPerson *bool          `json:"needs_person"`
	Blocker     string         `json:"blocker"`
	Question    string         `json:"question"`
	Options     []answerOption `json:"options"`
}

// answerOption is an option, as an object or a string.
type answerOption struct {
	Text    string `json:"text"`
	Fastest bool   `json:"fastest"`
}

// UnmarshalJSON accepts both forms.
func (c *answerOption) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &c.Text) == nil {
		return nil
	}
	type plain answerOption
	return json.Unmarshal(b, (*plain)(c))
}

// ratings are probabilities of success by technique. Invalid ones are dropped, because an invalid rating must not
// invalidate a diagnosis.
type ratings sia.Ratings

// UnmarshalJSON keeps the valid ratings and never fails.
func (r *ratings) UnmarshalJSON(b []byte) error {
	var all map[sia.TechniqueID]json.RawMessage
	if json.Unmarshal(b, &all) != nil {
		all = nil
	}
	*r = ratings{}
	for id, raw := range all {
		var chance *float64 // nil for null
		if json.Unmarshal(raw, &chance) == nil && chance != nil && *chance >= 0 && *chance <= 1 {
			(*r)[id] = *chance
		}
	}
	return nil
}

// asksPerson reports whether the answer needs a user. Without needs_person, a question and a blocker imply it.
func (a answer) asksPerson() bool {
	if a.NeedsPerson != nil {
		return *a.NeedsPerson && strings.TrimSpace(a.Question) != ""
	}
	return strings.TrimSpace(a.Question) != "" && strings.TrimSpace(a.Blocker) != ""
}

// parseAnswer parses a model's answer. An error tells the model what to fix.
func parseAnswer(raw []byte, in Input) (answer, error) {
	var a answer
	if err := readAnswer(lenientDiagnosis, raw, &a); err != nil {
		return answer{}, err
	}
	a.Diagnosis = text.Clip(cleanText(a.Diagnosis), maxSummary)
	a.Hypothesis = text.Clip(cleanText(a.Hypothesis), maxSummary)
	a.Prompt = text.Clip(cleanText(a.Prompt), maxPrompt)
	a.Technique = sia.TechniqueID(strings.TrimSpace(string(a.Technique)))
	s := &a.Answers
	for _, p := range []*string{&s.Goal, &s.FailedAt, &s.Pattern, &s.SeenBefore, &a.Blocker, &a.Question, &a.Constraint} {
		*p = text.Clip(cleanText(*p), maxSummary)
	}
	a.Steps, a.Unsuitable = a.Steps[:min(len(a.Steps), maxList)], a.Unsuitable[:min(len(a.Unsuitable), maxList)]
	a.Context, a.Examples = a.Context[:min(len(a.Context), maxList)], a.Examples[:min(len(a.Examples), maxList)]
	a.Options = a.Options[:min(len(a.Options), maxList)]
	switch {
	case a.Diagnosis == "":
		return answer{}, errors.New("diagnosis is empty: say why the attempt failed")
	case a.Prompt == "" && !in.Final && !a.asksPerson():
		return answer{}, errors.New("modified_prompt is empty: write the instructions for the next attempt")
	case in.Final && strings.TrimSpace(a.Question) == "":
		return answer{}, errors.New("question is empty: no approach is left, so ask a person one question with two to " +
			"four options")
	}
	return a, nil
}
