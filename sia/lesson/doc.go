// Package lesson implements lessons: what SIA learns from tasks and gives to later ones.
//
// Concepts:
//
//   - [Lesson]: one thing learned, with its provenance and evidence. Its confidence is
//     the mean of Beta(1+Good, 1+Bad), which counts the outcome that taught it and the outcomes of
//     attempts that got it, and fades with idle time ([Lesson.Counts]).
//   - [Evidence]: evidence about one lesson from one attempt, reaction or merge. [OutcomeEvidence]
//     derives it from a task's attempts, [FeedbackEvidence] from users' feedback.
//   - [Extract]: extracts lessons from a task, by rules alone. The words that reach a prompt come from
//     SIA's own vocabulary, from users with write access, and from logs, without the words that also
//     occur in the issue. Text of an issue never becomes part of a lesson. It only helps to find the
//     lesson again ([Lesson.Words]).
//   - [Merge]: merges equivalent lessons. Opposite advice is a conflict, which is
//     shown to users and never merged.
//   - [Choose]: chooses the few lessons that an attempt gets, different from each other, among those that
//     match its task. Some are withheld at random, so that [Uplift] can estimate their effect.
//   - [ForTools]: chooses the lessons about a tool, which an attempt gets when it first calls the tool.
//   - [Prove]: estimates a lesson's effect by replaying tasks with and without it.
//   - [Agreements]: finds lessons that several repositories learned independently. Once a maintainer has
//     approved one, the others get copies ([Lesson.CopyTo]), which their own attempts judge.
//   - [Patterns]: three similar outcomes make a pattern, proposed as a lesson.
//   - [Markdown] and [Parse]: .sia/lessons.md, which users may edit; an edit takes precedence over
//     what SIA inferred ([Edits]).
//
// Lessons inform an attempt; they are never instructions to run something. The package is pure: it reads no clock and
// uses no random numbers but hashes of names. It imports only sia and sia/text. Start reading at lesson.go, then
// extract.go and choose.go.
package lesson
