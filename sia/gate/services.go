package gate

import (
	"maps"
	"slices"
)

// Service is a container that a job of a workflow file wants beside its steps.
type Service struct {
	Name  string // its key
	Image string
	Ports []string          // as written: 5432, 5432:5432, 6379/tcp
	Env   map[string]string // expressions are not evaluated
}

// Services reads the services of a workflow file's jobs, in the order of the jobs' and the services' names
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idservices). A file that
// can't be read has none.
func Services(text []byte) (out []Service) {
	doc, err := boundedDocument(text)
	if err != nil {
		return nil
	}
	root, _ := doc.(map[string]any)
	jobs, _ := root["jobs"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(jobs)) {
		job, _ := jobs[key].(map[string]any)
		services, _ := job["services"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(services)) {
			says, _ := services[name].(map[string]any)
			image, _ := says["image"].(string)
			if image == "" {
				continue // GitHub does not start it either
			}
			s := Service{Name: name, Image: image, Ports: texts(says["ports"]), Env: map[string]string{}}
			env, _ := says["env"].(map[string]any)
			for variable, value := range env {
				s.Env[variable], _ = value.(string)
			}
			out = append(out, s)
		}
	}
	return out
}
