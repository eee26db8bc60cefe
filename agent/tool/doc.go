// Package tool implements the coding agent's tools, one per file. The description for the model is in a Markdown file
// with the tool's name.
//
// Concepts:
//
//   - [Tool]: a name, a description, a JSON Schema of its arguments, and Call.
//   - [Env]: what a call may access: the work tree, through an [os.Root], and a [CommandRunner] if there is a sandbox.
//     Without one, [SandboxTools] are not offered.
//   - [Result]: a text of limited size for the model, and the other effects of the call.
//
// Paths come from a model and are untrusted. Only relative paths in the work tree are allowed, without symbolic links,
// without a part named .git, and only of regular files (path.go). Arguments are decoded strictly, and every error
// describes what was expected, since the model reads it and retries (args.go).
//
// The package may import agent/sandbox, sia and the packages below it. Start reading at tool.go.
package tool
