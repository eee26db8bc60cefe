package settings

import (
	"fmt"
	"testing"

	"github.com/sia-bot/sia/policies"
)

// A folder's files over the limit are not read.
func TestFolderOfManyFiles(t *testing.T) {
	for n, want := range map[int]string{maxPolicies: "", maxPolicies + 1: policies.Dir + "/0050.yml",
		5000: policies.Dir + "/0050.yml"} {
		paths := []string{policies.Dir + "/README.md"}
		for i := range n {
			paths = append(paths, fmt.Sprintf("%s/%04d.yml", policies.Dir, i))
		}
		reads := 0
		got, err := readFolder(paths, policies.IsFile, maxPolicies, func(string) ([]byte, error) {
			reads++
			return nil, nil
		})
		if err != nil || reads != maxPolicies || len(got.files) != maxPolicies || got.firstOmitted != want {
			t.Errorf("of %d files %d were read, %d kept, and %q is the first left out, %v", n, reads, len(got.files),
				got.firstOmitted, err)
		}
	}
}
