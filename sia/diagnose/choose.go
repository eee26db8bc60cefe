package diagnose

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Choice is a pending decision: which technique the next attempt uses.
type Choice struct {
	Pattern    sia.Pattern
	Candidates []sia.Candidate // not empty; none was used or refused
	Wanted     sia.TechniqueID // candidate that a user asked for, which is binding; empty: none
	Pick       sia.TechniqueID // candidate that the answer names; empty: none
	Confidence float64         // confidence of the answer, 0–1
	Ratings    sia.Ratings     // the answer's ratings of free techniques; nil: none
	Model      bool            // the answer is a model's, not the rules'
}

// Chosen is a decision and its reason.
type Chosen struct {
	Technique  sia.TechniqueID // one of the candidates; Choice.Wanted if set
	Candidates []sia.Candidate // with their evidence, best first
	Why        string          // the reason, for display
	Decision   *sia.Decision   // entry for the decision log; nil: none
}

// choose chooses a technique and marks it among the candidates; their reasons mention the answer's pick. Without
// candidates nothing is marked. If the chosen technique differs from the answer's pick, its rating becomes the
// diagnosis' confidence. It returns the entry for the decision log.
func choose(in Input, d *sia.Diagnosis, a answer) (*sia.Decision, error) {
	q := Choice{Pattern: d.Pattern, Candidates: slices.Clone(d.Candidates), Wanted: wanted(in), Confidence: d.Confidence,
		Ratings: rated(in, a), Model: d.Fallback == ""}
	for i := range q.Candidates {
		q.Candidates[i].Chosen = false
	}
	if q.Wanted != "" && index(q.Candidates, q.Wanted) < 0 {
		q.Candidates = slices.Insert(q.Candidates, 0, sia.Candidate{Technique: q.Wanted, Reason: "a person asked for it"})
	}
	instead := ""
	switch {
	case a.Technique == "":
	case !free(in, a.Technique):
		instead = fmt.Sprintf("; chosen in place of %s, which %s", text.Clip(text.OneLine(string(a.Technique)), 80),
			notFree(in, a.Technique))
	default:
		q.Pick = a.Technique
		picks := fmt.Sprintf("the diagnosis picks it, with confidence %.2f", d.Confidence)
		if i := index(q.Candidates, q.Pick); i >= 0 {
			q.Candidates[i].Reason += "; " + picks
		} else {
			q.Candidates = append(q.Candidates,
				in.Library.Unlisted(in.Task, q.Pick, fmt.Sprintf("not listed for %s, but %s", d.Pattern, picks)))
		}
	}
	if len(d.Candidates) > 0 { // when no listed technique is left, a user decides how to continue
		q.Candidates = append(q.Candidates, promising(in, q)...)
	}
	if len(q.Candidates) == 0 {
		return nil, nil
	}
	made, err := decide(in, q)
	if err != nil {
		return nil, err
	}
	d.Candidates, d.Why, d.Ratings = made.Candidates, made.Why, q.Ratings
	if made.Decision != nil {
		d.DecisionID = made.Decision.ID
	}
	if chance, ok := q.Ratings[made.Technique]; ok && made.Technique != q.Pick {
		d.Confidence = chance
	}
	c := &d.Candidates[index(d.Candidates, made.Technique)]
	c.Chosen = true
	if q.Wanted == "" {
		c.Reason += instead
	}
	return made.Decision, nil
}

// decide calls the input's Choose and rejects results that are not among the candidates.
func decide(in Input, q Choice) (Chosen, error) {
	plain := Chosen{Technique: q.Candidates[0].Technique, Candidates: q.Candidates}
	switch {
	case q.Wanted != "":
		plain.Technique = q.Wanted
	case q.Pick != "":
		plain.Technique = q.Pick
	}
	if in.Choose == nil {
		return plain, nil
	}
	asked := q
	asked.Candidates = slices.Clone(q.Candidates)
	made, err := in.Choose(asked)
	if err != nil {
		return Chosen{}, err
	}
	unknown := func(c sia.Candidate) bool { return index(q.Candidates, c.Technique) < 0 }
	if index(made.Candidates, made.Technique) < 0 || slices.ContainsFunc(made.Candidates, unknown) ||
		q.Wanted != "" && made.Technique != q.Wanted {
		return plain, nil
	}
	return made, nil
}

// rated returns the answer's ratings of the techniques to rate; nil without any.
func rated(in Input, a answer) sia.Ratings {
	var r sia.Ratings
	for _, id := range rateable(in) {
		if chance, ok := a.Ratings[id]; ok {
			if r == nil {
				r = sia.Ratings{}
			}
			r[id] = chance
		}
	}
	return r
}

// promising returns techniques that are not among the candidates and that the model rates above the mean of its
// ratings. The lists by pattern are a first guess, and the pattern may be wrong.
func promising(in Input, q Choice) []sia.Candidate {
	mean := 0.0
	for _, id := range rateable(in) { // in a fixed order, because the sum must not depend on map order
		mean += q.Ratings[id] / float64(max(1, len(q.Ratings)))
	}
	var more []sia.Candidate
	for _, id := range rateable(in) {
		if chance, ok := q.Ratings[id]; ok && chance > mean && index(q.Candidates, id) < 0 {
			more = append(more, in.Library.Unlisted(in.Task, id,
				fmt.Sprintf("not listed for %s, but the model rates it above the others", q.Pattern)))
		}
	}
	return more
}

// index returns the index of a technique among candidates; -1 if absent.
func index(cs []sia.Candidate, id sia.TechniqueID) int {
	return slices.IndexFunc(cs, func(c sia.Candidate) bool { return c.Technique == id })
}

// notFree returns why a technique may not be used.
func notFree(in Input, id sia.TechniqueID) string {
	switch {
	case in.Task.Used(id):
		return "was used already in this task"
	case slices.Contains(in.Task.Refused, id):
		return "the reviewer refused"
	}
	return "is not in the library"
}
