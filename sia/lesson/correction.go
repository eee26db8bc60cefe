package lesson

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// NewCorrection returns the lesson of a user who describes what was wrong with a task's last ended attempt. source
// names the comment. against is evidence against the lessons that the attempt got. It has the key of the 👎 that the
// same user may leave on SIA's comment about the attempt, so that both count once. ok is false when no attempt has
// ended.
func NewCorrection(
	t sia.Task, source, words string, by sia.Actor, now time.Time,
) (l Lesson, against []Evidence, ok bool) {
	var last sia.Attempt
	for _, a := range t.Attempts {
		if a.Outcome != "" {
			last = a
		}
	}
	if last.Number == 0 {
		return l, nil, false
	}
	l = NewTaught(t.Repo.ID, source, words, by, t, now)
	l.Kind, l.From.Attempt = Mistake, last.Number
	l.Action = fmt.Sprintf("what attempt %d at issue #%d did", last.Number, t.Issue)
	l.Outcome = fmt.Sprintf("@%s said that it was wrong", by.Login)
	l.Words = Words(words+"\n"+t.Title+"\n"+t.Body, maxWords)

	intervention := 0 // the one that led to the attempt
	if i := t.InterventionOf(last); i != nil {
		intervention = i.Number
	}
	for _, id := range last.LessonsShown {
		against = append(against, Evidence{
			Key: feedbackKey(t.ID, ID(id), ratingName(intervention, by), false), Lesson: ID(id), Bad: PersonWeight, At: now,
			Why: fmt.Sprintf("@%s said what was wrong with attempt %d at issue #%d, which was told it",
				by.Login, last.Number, t.Issue),
		})
	}
	return l, against, true
}

// ratingName returns the name of a user's rating of an intervention; 0 is the task as a whole.
func ratingName(intervention int, by sia.Actor) string {
	return fmt.Sprintf("rating-%d-%d", intervention, by.ID)
}

// feedbackKey returns the key of evidence from users' feedback.
func feedbackKey(task sia.TaskID, id ID, what string, good bool) string {
	return fmt.Sprintf("%s/%s/%s/%v", task, id, what, good)
}

// ratedBy matches the name of a user's rating in a key.
var ratedBy = lazyregexp.New(`/rating-[0-9]+-[0-9]+/`)

// ReplaceRaters replaces the ids of users in the keys of evidence, wherever they are in a text.
func ReplaceRaters(text string, ids []int64, by int64) string {
	return ratedBy.ReplaceAllStringFunc(text, func(name string) string {
		at := strings.LastIndex(name, "-") + 1
		id, err := strconv.ParseInt(strings.TrimSuffix(name[at:], "/"), 10, 64)
		if err != nil || !slices.Contains(ids, id) {
			return name
		}
		return fmt.Sprintf("%s%d/", name[:at], by)
	})
}
