package gate

import (
	"maps"
	"slices"

	"github.com/sia-bot/sia/sia/yamlfile"
)

// Service is a service container of a job of a workflow file.
type Service struct {
	Name  string // key in the file
	Image string
	Ports []string          // as written, such as 5432, 5432:5432, 6379/tcp
	Env   map[string]string // expressions are not evaluated
}

// Services returns the service containers of a workflow file's jobs, ordered by the jobs' and the services' names
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idservices). It returns
// none for a file that can't be parsed.
func Services(text []byte) (out []Service) {
	doc, err := yamlfile.Values(text)
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
