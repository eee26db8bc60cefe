package sia

// Edition is a version of an issue's title and text.
type Edition struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// The letters of the options of the question whether an edited text is the task.
const (
	editedGo   = "A" // it is
	editedStop = "B" // the task ends
)

// editQuestion returns the question whether an edited text is the task. The request was for
// the text at that time; the author of an issue can edit it afterwards.
func editQuestion(by Actor, e Edition) Escalation {
	who := "somebody"
	if by.Login != "" {
		who = "@" + by.Login
	}
	return Escalation{
		Kind: AskEdited, Edition: &e, Question: "Shall SIA work on the issue as it reads now?",
		Blocker: "The issue was edited after " + who + " asked for it, and nobody whose edits count has said so since.",
		Options: []Option{{Letter: editedGo, Text: "Work on it as it reads now", Fastest: true},
			{Letter: editedStop, Text: "Stop"}},
	}
}

// answerEdited handles the answer to editQuestion.
func (s *step) answerEdited(f AnswerGiven) {
	if f.Letter == editedStop {
		s.end(s.who()+" chose to stop: the issue was edited", false)
		return
	}
	s.addConstraint(f.Text)
	s.takeEdition(*s.t.Escalation.Edition)
	s.requeue()
}

// takeEdition makes a text the task, because a person asked for it.
func (s *step) takeEdition(e Edition) {
	s.t.Title, s.t.Body, s.t.Edited = e.Title, e.Body, &Edit{By: s.e.By, At: s.e.At}
}

// startEdited handles "/sia start" while that question is open: it asks for the issue's
// present text.
func (s *step) startEdited() {
	f := s.e.Fact.(Start)
	s.answered(editedGo, s.t.Escalation.Options[0].Text)
	s.addConstraint(f.Text)
	s.takeEdition(Edition{f.Title, f.Body})
	s.requeue()
	s.because("%s wants it worked on as it reads now", s.who())
}
