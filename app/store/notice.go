package store

import (
	"context"
	"database/sql"
	"time"
)

// noticeRetention is how long sent notices are stored. A user who is needed for longer is notified again.
const noticeRetention = 365 * 24 * time.Hour

// SaveNotices records that notices were sent to a channel: one, or several that were grouped in one
// message. The first record of a key is kept.
func (s *NoticeStore) SaveNotices(
	ctx context.Context, channel string, at time.Time, grouped bool, keys ...string,
) error {
	return s.write(ctx, "note what people were told", func(tx *sql.Tx) error {
		for _, key := range keys {
			if _, err := tx.ExecContext(ctx, `INSERT INTO notices (channel, key, grouped, at) VALUES (?, ?, ?, ?)
				ON CONFLICT DO NOTHING`, channel, key, grouped, micros(at)); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM notices WHERE channel = ? AND at < ?`, channel,
			micros(at.Add(-noticeRetention)))
		return err
	})
}

// Noticed returns the keys that were sent to a channel.
func (s *NoticeStore) Noticed(ctx context.Context, channel string, keys []string) (map[string]bool, error) {
	return s.existing(ctx, "look what people were told",
		`SELECT key FROM notices WHERE channel = ? AND key `+s.inList(texts), channel, jsonArray[string](keys))
}

// NoticesSince counts the single messages that were sent to a channel since a time, and reports
// whether a grouped one was sent.
func (s *NoticeStore) NoticesSince(
	ctx context.Context, channel string, since time.Time,
) (single int, grouped bool, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT
			count(CASE WHEN grouped = 0 THEN 1 END), count(CASE WHEN grouped = 1 THEN 1 END) > 0
		FROM notices WHERE channel = ? AND at > ?`, channel, micros(since)).Scan(&single, &grouped)
	return single, grouped, s.explain("count what people were told", err)
}

// SaveSummary records the end of the last summary that was sent to a channel.
func (s *NoticeStore) SaveSummary(ctx context.Context, channel string, until time.Time) error {
	return s.exec(ctx, "note the summary", `INSERT INTO summaries (channel, until) VALUES (?, ?)
		ON CONFLICT (channel) DO UPDATE SET until = excluded.until`, channel, micros(until))
}

// SummaryUntil returns the end of the last summary that was sent to a channel; zero: none was.
func (s *NoticeStore) SummaryUntil(ctx context.Context, channel string) (until time.Time, err error) {
	err = s.r.QueryRowContext(ctx, `SELECT until FROM summaries WHERE channel = ?`, channel).Scan(timeColumn{&until})
	return until, s.explain("look for the last summary", ignoreNoRows(err))
}
