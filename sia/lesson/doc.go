// Package lesson is what SIA keeps from one task for the next.
//
// Concepts:
//
//   - [Lesson]: one thing learned, with where it came from and how it has fared. Its confidence is
//     the mean of Beta(1+Good, 1+Bad), which counts the outcome that taught it and the outcomes of
//     attempts that got it, and fades with idle time ([Lesson.Counts]).
//   - [Evidence]: what one attempt, reaction or merge says about one lesson. [OutcomeEvidence] reads
//     it off a task that moved, [FeedbackEvidence] off what people made of it.
//   - [Extract]: what a task taught, by rules alone. The words that reach a prompt come from
//     SIA's own vocabulary, from people with write access, and from logs where they say nothing
//     that the issue said: an issue's text teaches nothing. It only helps to find the lesson again
//     ([Lesson.Words]).
//   - [Merge]: the same lesson twice is one, seen twice. Opposite advice is a conflict, which is
//     shown to people and never merged.
//   - [Choose]: of the lessons that fit a task, the few that its attempt gets, different from
//     each other; some are withheld by chance, so that [Uplift] can estimate their effect.
//   - [ForTools]: the lessons about a tool, which an attempt meets when it first calls the tool.
//   - [Prove]: tasks that were played with a lesson and without show its effect.
//   - [Agreements]: what several repositories learned, each by itself. Once a person approved it,
//     the others get copies ([Lesson.CopyTo]), which their own attempts judge.
//   - [Patterns]: three similar outcomes make a pattern, proposed as a lesson.
//   - [Markdown] and [Parse]: .sia/lessons.md, which people may edit; their edit outranks what SIA
//     inferred ([Edits]).
//
// Lessons inform an attempt; they are never instructions to run something.
//
// The package is pure: it reads no clock and rolls no dice, chance comes from hashes of names. It
// imports only sia and sia/text. Start reading at lesson.go, then extract.go and choose.go.
package lesson
