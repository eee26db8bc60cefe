package github

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestOddDatesAreRead: one date in another form does not lose the object it is in.
func TestOddDatesAreRead(t *testing.T) {
	day := time.Date(2018, 4, 25, 20, 42, 10, 0, time.UTC)
	for in, want := range map[string]time.Time{
		`"2018-04-25T20:42:10Z"`:          day,
		`"2018-04-25T20:42:10.123Z"`:      day.Add(123 * time.Millisecond),
		`"2018-04-25T22:42:10+02:00"`:     day,
		`"2018-04-25T22:42:10.5+02:00"`:   day.Add(500 * time.Millisecond),
		`"2018-04-25T22:42:10+0200"`:      day,
		`"2018-04-25T20:42:10"`:           day,
		`"2018-04-25 20:42:10"`:           day,
		`"2018-04-25 20:42:10 UTC"`:       day,
		`"2018-04-25 22:42:10 +0200"`:     day,
		`"2018-04-25"`:                    day.Truncate(24 * time.Hour),
		`"Wed, 25 Apr 2018 20:42:10 UTC"`: day,
		`1524688930`:                      day,
		`1524688930000`:                   day,
		`1524688930.5`:                    day.Add(500 * time.Millisecond),
		`"1524688930"`:                    day,
		`""`:                              {},
		`"Soon"`:                          {},
		`null`:                            {},
	} {
		w := start(t, "/")
		w.json("GET /repos/acme/shop/issues/12", 200,
			fmt.Sprintf(`{"number":12,"state":"open","labels":[],`+
				`"id":900719925474099312,"title":"at \"updated_at\": \"x\"","updated_at":%s}`, in))
		got, err := w.repo().Issue(context.Background(), 12)
		if err != nil || !got.UpdatedAt.Equal(want) || got.Title != `at "updated_at": "x"` {
			t.Errorf("%s: got %v, %v", in, got.UpdatedAt, err)
		}
	}
}

func FuzzMendDates(f *testing.F) {
	f.Add([]byte(`{"created_at":"2018-04-25 20:42:10","a":[{"pushed_at":1524688930.5}]}`))
	f.Add([]byte(`{"date":{"date":""},"updated":99999999999999999999999999}`))
	f.Add([]byte(`{"suspended_at":"2018-13-45T99:99:99Z","x_on":-1,"y_at":1e400}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		once := FixDates(body)
		if twice := FixDates(once); string(once) != string(twice) && len(once) < 1000 {
			t.Errorf("%q became %q and then %q", body, once, twice)
		}
	})
}
