// Package agent is the coding agent. It works on a task in a work tree until it finishes, asks a question, is stopped,
// or reaches a limit.
//
// Concepts:
//
//   - [Agent] and [Input]: one attempt at a task, in a directory of its own. The agent changes files there; it neither
//     commits nor pushes.
//   - [BuiltinAgent]: the agent that ships: a loop of model calls and tool calls.
//   - [CommandAgent]: an agent that is an external program (commandagent.go), run in the sandbox (commandrun.go). It
//     calls the model through agent/gateway, charged to the attempt's budget (meter.go). [Preset] describes the known
//     ones. Their output becomes the transcript (output.go, events.go).
//   - The prompt (prompt.go) is assembled from the task and its brief, within a maximum size. A technique in the brief
//     changes the tools and the context as well as the text. Untrusted text is delimited, labelled, and cleared of
//     content that is invisible on GitHub (sanitize.go).
//   - A conversation that outgrows the model's window is shortened from its oldest end (conversation.go). Results are
//     left out first. Then answers are replaced by notes (condense.go).
//   - Lessons about a tool are added to the result of its first call. The [Result] records which were shown and which
//     withheld (toollessons.go).
//   - Commands run in a sandbox with caches of the attempt's own (runner.go), after the repository's setup commands
//     (setup.go). Without a sandbox, none run.
//   - An attempt with Input.Planning (planning.go) has only the tools that read, and ends with a proposed plan. The
//     approved plan is part of later attempts' prompts.
//   - [Limits]: turns, time and credits (budget.go). A conversation that goes round in circles is interrupted
//     (loop.go).
//   - [Recorder] and [Turn]: the transcript, saved turn by turn, with secrets masked (journal.go). [Markdown] renders
//     it. When a process ends, its attempt is resumed from the transcript (resume.go).
//
// The agent's statements about its own work decide nothing: [Result.Summary] is only displayed. The package may import
// agent/gateway, agent/llm, agent/sandbox, agent/tool, sia and the packages below it. Start reading at agent.go, then
// builtin.go.
package agent
