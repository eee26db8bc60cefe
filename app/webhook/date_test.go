package webhook

import "testing"

func TestNormalizeDates(t *testing.T) {
	for in, want := range map[string]string{
		`"2018-04-25T22:42:10.5+02:00"`: `"2018-04-25T20:42:10.5Z"`,
		`"2018-04-25 20:42:10"`:         `"2018-04-25T20:42:10Z"`,
		`"2018-04-25 20:42:10 UTC"`:     `"2018-04-25T20:42:10Z"`,
		`"2018-04-25 22:42:10 +0200"`:   `"2018-04-25T20:42:10Z"`,
		`"2018-04-25T22:42:10+0200"`:    `"2018-04-25T20:42:10Z"`,
		`1524688930`:                    `1524688930`,
		`1524688930.5`:                  `null`,
		`"at \"noon\""`:                 `null`,
		`""`:                            `null`,
		`null`:                          `null`,
		`{"date":""}`:                   `{"date":null}`,
	} {
		const title = `{"title":"the \"created_at\": \"x\"","updated_at" : `
		if got := string(normalizeDates([]byte(title + in + "}"))); got != title+want+"}" {
			t.Errorf("%s: %s", in, got)
		}
	}
}
