// Package tool holds the coding agent's tools: one file each, with the
// description that the model reads in a Markdown file of the tool's name.
//
// Concepts:
//
//   - [Tool]: a name, a description, a JSON Schema of its arguments, and Call.
//   - [Env]: what a call may touch. It is the work tree, through an [os.Root], and a
//     [CommandRunner] where there is a sandbox. Without one, [SandboxTools] are not offered.
//   - [Result]: a bounded text for the model, and what else the call did.
//
// Every path comes from a model and is not trusted: only relative paths inside
// the work tree, no symbolic links on the way, nothing named .git, only regular
// files (path.go). Arguments are decoded strictly, and every error says what was
// expected, because the model reads it and tries again (args.go).
//
// The package may import agent/sandbox, sia and what lies below it. Start reading at
// tool.go.
package tool
