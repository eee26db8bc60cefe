package tool

import (
	"context"
	"fmt"
)

// DeleteTool deletes a file, or an empty directory.
func DeleteTool() Tool {
	return newTool(NameDelete, deleteArgs{}, callDelete, `{"type":"object","properties":{
"path":{"type":"string","description":"file or empty directory"}},
"required":["path"]}`)
}

type deleteArgs struct {
	Path string `json:"path"`
}

// callDelete removes the file.
func callDelete(_ context.Context, env Env, a deleteArgs) (Result, error) {
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
