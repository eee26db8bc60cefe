package policies

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Every number of a policy has a range, and a value out of range is reported with its path.
func TestNumbersHaveRanges(t *testing.T) {
	for typ, empty := range bodies {
		for key, at := range empty().Sections() {
			eachNumber(reflect.TypeOf(at).Elem(), []string{key}, func(path []string) {
				for _, wrong := range []string{"-1000000000", "1000000000", ".nan"} {
					file := fmt.Sprintf("decision: %s\nname: x\nversion: 1\n%s: %s%s\n", typ, strings.Join(path, ": {"), wrong,
						strings.Repeat("}", len(path)-1))
					_, err := Parse("x.yml", []byte(file))
					if err == nil || !strings.Contains(err.Error(), strings.Join(path, ".")+": want a ") {
						t.Errorf("%s: %v", file, err)
					}
				}
			})
		}
	}
}

func eachNumber(of reflect.Type, path []string, do func(path []string)) {
	switch of.Kind() {
	case reflect.Struct:
		for f := range of.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			eachNumber(f.Type, append(path[:len(path):len(path)], key), do)
		}
	case reflect.Map:
		key := "a"
		if of.Elem().Kind() == reflect.Float64 { // of actions
			key = ChoiceRetry
		}
		eachNumber(of.Elem(), append(path[:len(path):len(path)], key), do)
	case reflect.Int, reflect.Float64:
		do(path)
	}
}
