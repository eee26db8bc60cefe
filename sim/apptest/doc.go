// Package apptest runs the production application with the GitHub simulator and a scripted model, connected by HTTP.
// Only tests import it.
//
// Concepts:
//
//   - [Stage]: one simulator, one scripted model, one application on SQLite in a
//     temporary directory. Every request, answer and webhook is checked against
//     GitHub's published descriptions; a deviation fails the test.
//   - [Clock]: time stands still until nothing is left to do, and then jumps to
//     when the next thing is due. So no test waits for time to pass, and results
//     don't depend on the speed of the machine.
//   - Hold: the application stopped before or after one effect, while people and
//     GitHub go on ([Stage.Hold], [Stage.Until], [Stage.Go]).
//   - [Story]: a stage, people's actions and the result, as one txtar archive;
//     see story.go for its format.
//
// It imports app, the simulator and the scripted model. Start reading at
// stage.go, then idle.go and story.go.
package apptest
