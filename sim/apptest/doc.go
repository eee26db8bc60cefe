// Package apptest runs the production application on a stage of its own: the
// GitHub simulator on one side, a scripted model on the other, and HTTP between
// them. It is test support; only tests import it.
//
// Concepts:
//
//   - [Stage]: one simulator, one scripted model, one application on SQLite in a
//     temporary directory. Every request, answer and webhook is checked against
//     GitHub's published descriptions; what is not as described fails the test.
//   - [Clock]: time stands still until nothing is left to do, and then jumps to
//     when the next thing is due. So nothing in a test waits for time to pass,
//     and what happens does not depend on how fast the machine is.
//   - Hold: the application stopped before or after one effect, while people and
//     GitHub go on ([Stage.Hold], [Stage.Until], [Stage.Go]).
//   - [Story]: a stage, what people do on it and its result, as one txtar
//     archive; see story.go for its form.
//
// It imports app, the simulator and the scripted model. Start reading at
// stage.go, then idle.go and story.go.
package apptest
