package runner

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Artifact is an upload of a job under a name.
type Artifact struct {
	Name string
	Zip  []byte
}

// upload implements actions/upload-artifact for one file or folder of the workspace.
func (r *jobRun) upload(f stepFile) error {
	name, path := "artifact", ""
	if v, is := f.With["name"]; is {
		name = r.expand(fmt.Sprint(v))
	}
	if v, is := f.With["path"]; is {
		path = r.expand(fmt.Sprint(v))
	}
	at := filepath.Join(r.workspace, filepath.Clean("/"+path))
	st, err := os.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		// The action's default: no step fails because of it.
		r.log.printf("##[warning]No files were found with the provided path: %s. No artifacts will be uploaded.", path)
		return nil
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if st.IsDir() {
		err = z.AddFS(os.DirFS(at))
	} else {
		err = addFile(z, at)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	r.artifacts = append(r.artifacts, Artifact{Name: name, Zip: b.Bytes()})
	r.log.printf("Artifact %s has been successfully uploaded!", name)
	return nil
}

func addFile(z *zip.Writer, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	w, err := z.Create(filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return err
}
