// Package agent is the coding agent: it works on a task in a work tree until it
// says that it is done, asks, is stopped, or reaches a limit.
//
// Concepts:
//
//   - [Agent] and [Input]: one attempt at a task, in a directory that is the
//     agent's alone. It changes files there; it commits and pushes nothing.
//   - [BuiltinAgent]: the agent that ships: a loop of model calls and tool calls.
//   - [CommandAgent]: an agent that is somebody else's program (commandagent.go), run in
//     the sandbox (commandrun.go). It asks the model through agent/gateway, and the
//     attempt's budget pays for that (meter.go). [Preset] has those that are known by
//     name. What they print becomes the transcript (output.go, events.go).
//   - The prompt (prompt.go) is assembled from the task and its brief, within a
//     bound. A technique in the brief changes the tools offered and the context
//     given, not only words. Text from strangers is delimited, labelled, and
//     freed of what people can't see (sanitize.go).
//   - A conversation that outgrows the model's window is shortened from its oldest
//     end (conversation.go). Results are left out first. Then answers become notes of
//     what they did (condense.go), each appended once.
//   - Lessons about a tool are told with the result of its first call, and the [Result]
//     says which were and which were withheld (toollessons.go).
//   - Commands run in a sandbox with caches of the attempt's own (runner.go), after
//     the repository's setup commands (setup.go). Without a sandbox none do.
//   - An attempt that makes a plan (planning.go) has the tools that read, and ends
//     with what it proposes. Later attempts are told what was approved of it.
//   - [Limits]: turns, time and credits (budget.go). A conversation that goes
//     round in circles is interrupted (loop.go).
//   - [Recorder] and [Turn]: the transcript, saved turn by turn, with secrets
//     masked (journal.go). [Markdown] renders it for people. When a process ends, its
//     attempt goes on from the transcript (resume.go).
//
// What the agent says about its own work decides nothing: [Result.Summary] is only
// shown. The package may import agent/gateway, agent/llm, agent/sandbox,
// agent/tool, sia and what lies below it. Start reading at agent.go, then
// builtin.go.
package agent
