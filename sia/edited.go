package sia

// Edition is an issue's title and text at one time.
type Edition struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// The letters of the options of a question whether an edited text is the task.
const (
	editedGo   = "A" // it is
	editedStop = "B" // the task ends
)

// wholeEdit asks whether a text is the task that nobody asked for yet. What was asked for
// is the text as it was then; whoever wrote an issue can edit it afterwards.
func wholeEdit(by Actor, e Edition) Escalation {
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

// answerEdited takes the answer of a person who was shown the edited text.
func (s *step) answerEdited(f AnswerGiven) {
	if f.Letter == editedStop {
		s.end(s.who()+" chose to stop: the issue was edited", false)
		return
	}
	s.words(f.Text)
	s.takeEdition(*s.t.Escalation.Edition)
	s.again()
}

// takeEdition makes a text the task, by a person's word.
func (s *step) takeEdition(e Edition) {
	s.t.Title, s.t.Body, s.t.Edited = e.Title, e.Body, &Edit{By: s.e.By, At: s.e.At}
}

// startEdited is "/sia start" while that question is open: what is asked for is the text
// that stands there now.
func (s *step) startEdited() {
	f := s.e.Fact.(Start)
	s.answered(editedGo, s.t.Escalation.Options[0].Text)
	s.words(f.Text)
	s.takeEdition(Edition{f.Title, f.Body})
	s.again()
	s.because("%s wants it worked on as it reads now", s.who())
}
