package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed delete.md
var deleteDescription string

// DeleteTool removes one file, or an empty directory.
type DeleteTool struct{}

type deleteArgs struct {
	Path string `json:"path"`
}

// Name is "delete".
func (DeleteTool) Name() string { return NameDelete }

// Description is delete.md.
func (DeleteTool) Description() string { return deleteDescription }

// Schema describes the arguments.
func (DeleteTool) Schema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{
"path":{"type":"string","description":"file or empty directory"}},
"required":["path"]}`)
}

// Call removes the file.
func (DeleteTool) Call(_ context.Context, env Env, args json.RawMessage) (Result, error) {
	var a deleteArgs
	if err := decodeArgs(args, &a); err != nil {
		return Result{}, err
	}
	p, err := localPath(a.Path)
	if err != nil {
		return Result{}, err
	}
	if p == "." {
		return Result{}, fmt.Errorf("the repository's root can't be deleted")
	}
	if err := noLinks(env.Root, p); err != nil {
		return Result{}, err
	}
	st, err := env.Root.Lstat(p)
	if err != nil {
		return Result{}, pathError("delete", p, err)
	}
	if err := env.Root.Remove(p); err != nil {
		if st.IsDir() {
			return Result{}, fmt.Errorf("%s is a directory that is not empty; delete its files one by one", quotePath(p))
		}
		return Result{}, pathError("delete", p, err)
	}
	return Result{Text: fmt.Sprintf("deleted %s\n", p), Changed: []string{p}}, nil
}
