package sia

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// fieldsOfVersion is the hash of the names and types of all fields of [Task] in the release of [TaskVersion].
const fieldsOfVersion = "044aba2fa1f3057b"

// TestTaskVersion: servers of two versions may share a database, and an older one would drop fields that it does not
// know. So new fields make a new version.
func TestTaskVersion(t *testing.T) {
	var b strings.Builder
	listFields(&b, reflect.TypeFor[Task](), map[reflect.Type]bool{})
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))[:16]; got != fieldsOfVersion {
		t.Errorf("the fields of Task have changed: raise TaskVersion if it is the latest release's, and write %q here", got)
	}
}

// listFields lists the fields of the structs of this module in a type, each struct once.
func listFields(b *strings.Builder, of reflect.Type, listed map[reflect.Type]bool) {
	switch of.Kind() {
	case reflect.Map, reflect.Pointer, reflect.Slice, reflect.Array:
		listFields(b, of.Elem(), listed)
	case reflect.Struct:
		if listed[of] || !strings.HasPrefix(of.PkgPath(), "github.com/sia-bot/sia/") {
			return
		}
		listed[of] = true
		for f := range of.Fields() {
			fmt.Fprintln(b, of, f.Name, f.Type, f.Tag.Get("json"))
			listFields(b, f.Type, listed)
		}
	}
}
