package sia

// LessonRef is a lesson of an earlier task as an attempt is told it. What is
// known of the lesson beyond that is package sia/lesson's.
type LessonRef struct {
	ID   string `json:"id"`
	Text string `json:"text"` // at most a few sentences
}

// Teach is what a person tells SIA to remember or to forget: /sia learn and
// /sia forget. It concerns the repository and no task. The zero Teach is nothing.
type Teach struct {
	Learn  string // the lesson, in the person's words
	Forget string // a lesson's id, or words like it
}

func lessonTexts(refs []LessonRef) []string {
	var texts []string
	for _, r := range refs {
		texts = append(texts, r.Text)
	}
	return texts
}

func lessonIDs(refs []LessonRef) []string {
	var ids []string
	for _, r := range refs {
		ids = append(ids, r.ID)
	}
	return ids
}
