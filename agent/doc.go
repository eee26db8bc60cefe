// Package agent is the coding agent: it works on a task in a work tree until it
// says that it is done, asks, is stopped, or reaches a limit.
//
// Concepts:
//
//   - [Agent] and [Input]: one attempt at a task, in a directory that is the
//     agent's alone. It changes files there; it commits and pushes nothing.
//   - [Builtin]: the agent that ships: a loop of model calls and tool calls.
//   - [Command]: an agent that is somebody else's program (commands.go), run in the
//     sandbox (commandrun.go). It asks the model through agent/gateway, and a meter
//     pays for that from the attempt's budget (meter.go). [Preset] has those that
//     are known by name; what they print becomes the transcript (said.go, events.go).
//   - The prompt (prompt.go) is assembled from the task and its brief, within a
//     bound; a technique in the brief changes the tools offered and the context
//     given, not only words. Text from strangers is delimited, labelled, and
//     freed of what people can't see (sanitize.go).
//   - A conversation that outgrows the model's window is shortened from its oldest
//     end (conversation.go): results are left out, then answers become notes of
//     what they did (condense.go), each appended once.
//   - Commands run in a sandbox on a workbench of the attempt's own (workshop.go),
//     after the repository's setup commands (setup.go). Without a sandbox none do.
//   - An attempt that makes a plan (planning.go) has the tools that read, and ends
//     with what it proposes; later attempts are told what was approved of it.
//   - [Limits]: turns, time and credits (budget.go); a conversation that goes
//     round in circles is interrupted (loop.go).
//   - [Recorder] and [Turn]: the transcript, saved turn by turn, with secrets
//     masked (journal.go); [Markdown] renders it for people. An attempt whose process
//     ended goes on from it (resume.go).
//
// What the agent says about its own work decides nothing: [Result.Summary] is
// only shown. The package may import agent/gateway, agent/llm, agent/sandbox,
// agent/tool, sia and what lies below it. Start reading at agent.go, then
// builtin.go.
package agent
