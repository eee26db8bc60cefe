package store

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// Workers receive notifications of jobs that this process commits without polling, and of those that another process
// writes to River's table.
func TestWorkersHearOfCommits(t *testing.T) {
	s := opened(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	l := s.driver().GetListener(&riverdriver.GetListenenerParams{})
	if err := l.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	defer l.Close(ctx)
	for _, topic := range []string{insertTopic, controlTopic} {
		if err := l.Listen(ctx, topic); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(topic, payload string) {
		t.Helper()
		n, err := l.WaitForNotification(ctx)
		if err != nil || n.Topic != topic || n.Payload != payload {
			t.Errorf("heard %+v, %v; want %s %s", n, err, topic, payload)
		}
	}
	save := func(guid string) {
		t.Helper()
		if _, err := s.SaveDelivery(ctx, Delivery{GUID: guid, Event: "issues", Body: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	save("1")
	heard(insertTopic, `{"queue":"deliveries"}`)
	if _, err := s.w.Exec(`INSERT INTO river_notification (topic, payload) VALUES ('river_control', '{}')`); err != nil {
		t.Fatal(err)
	}
	heard(controlTopic, "{}")
	save("1") // duplicate: no job
	save("2")
	heard(insertTopic, `{"queue":"deliveries"}`)
	var written int
	err := s.w.QueryRow(`SELECT count(*) FROM river_notification WHERE topic = ?`, insertTopic).Scan(&written)
	if err != nil || written != 0 {
		t.Errorf("%d notifications of jobs are in the table, %v", written, err)
	}
}

// A transaction that was rolled back is not announced.
func TestNothingIsHeardOfWhatWasUndone(t *testing.T) {
	s := opened(t)
	ctx := context.Background()
	after := s.commits.nextCommit()
	body := make([]byte, 1<<20) // can't be packed
	if _, err := rand.Read(body); err != nil {
		t.Fatal(err)
	}
	more := full(t, s)
	if _, err := s.SaveDelivery(ctx, Delivery{GUID: "1", Event: "issues", Body: body}); err == nil {
		t.Fatal("it was saved on a full disk")
	}
	more()
	select {
	case <-after:
		t.Error("a commit was told of that did not happen")
	case n := <-s.commits.jobs:
		t.Errorf("workers were told of %s", n.Payload)
	default:
	}
	if err := s.exec(ctx, "write", `DELETE FROM deliveries`); err != nil {
		t.Fatal(err)
	}
	<-after
	select {
	case n := <-s.commits.jobs:
		t.Errorf("workers were told of %s by a transaction without jobs", n.Payload)
	default:
	}
}
