package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// PolicyHold forbids changes of a policy for a while, and may replace a bad version by another
// one.
type PolicyHold struct {
	Installation int64 // when it was held
	Place        int64 // the repository that has the policy; 0: a default policy
	Decision     string
	Name         string
	Bad          string // id of the version that must not decide; empty: none
	Instead      string // id of the version that decides instead
	Until        time.Time
	Why          string // for users
	By           string // login, perhaps after an @, or the operator as [sia.Actor.Mention] names them; empty: SIA
	At           time.Time
}

// HoldPolicy stores a hold, and replaces an earlier one of the same policy.
func (s *PolicyStore) HoldPolicy(ctx context.Context, h PolicyHold) error {
	return s.write(ctx, "hold the policy "+h.Name, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO policy_holds (`+holdColumns+`) VALUES (`+params(holdColumns)+`)
			ON CONFLICT (installation, place_id, decision, name) DO UPDATE SET bad = excluded.bad,
				instead = excluded.instead, until = excluded.until, why = excluded.why, by_login = excluded.by_login,
				at = excluded.at`, h.fields()...)
		if err != nil {
			return err
		}
		a := Act{At: h.At, Who: h.By, What: "hold policy", Repo: h.Place, Detail: h.Name + ": " + h.Why}
		if h.By == "" {
			return logActOf(ctx, tx, own, a)
		}
		return logAct(ctx, tx, a)
	})
}

const holdColumns = `installation, place_id, decision, name, bad, instead, until, why, by_login, at`

func (h *PolicyHold) fields() []any {
	return []any{&h.Installation, &h.Place, &h.Decision, &h.Name, &h.Bad, &h.Instead, timeColumn{&h.Until}, &h.Why, &h.By,
		timeColumn{&h.At}}
}

// PolicyHolds lists the holds of policies in the repositories of an installation, by decision and name. A hold stays
// with its repository when the app is installed again, or the repository is transferred.
func (s *PolicyStore) PolicyHolds(ctx context.Context, installation int64) ([]PolicyHold, error) {
	op := fmt.Sprintf("load the held policies of installation %d", installation)
	all, err := list(ctx, s.DB, op, func(from row) (h PolicyHold, err error) {
		err = from.Scan(h.fields()...)
		return h, err
	}, `SELECT `+holdColumns+` FROM policy_holds
		WHERE coalesce((SELECT r.installation_id FROM repositories r WHERE r.id = place_id), installation) = ?
		ORDER BY decision, name, place_id, at DESC`, installation)
	return slices.CompactFunc(all, func(a, b PolicyHold) bool { // of the same place, under another installation
		return a.Place == b.Place && a.Decision == b.Decision && a.Name == b.Name
	}), err
}

// PolicyRecord summarizes the results of the tasks that a version of a policy decided about.
type PolicyRecord struct {
	Ended, Passed int       // ended tasks, each once, and those that passed without a user's answer
	Since         time.Time // first decision of the version; zero: none
}

// PolicyRecord counts the ended tasks of a repository, 0: of an installation, about which a version of a policy
// decided after a time.
func (s *PolicyStore) PolicyRecord(
	ctx context.Context, installation, repo int64, policy string, after time.Time,
) (PolicyRecord, error) {
	var r PolicyRecord
	err := s.r.QueryRowContext(ctx, `SELECT count(*), count(CASE WHEN e.passed = 1 AND e.helped = 0 THEN 1 END),
			(SELECT at FROM policy_versions WHERE id = ?)
		FROM task_ends e WHERE e.task_id IN (SELECT d.task_id FROM decisions d JOIN repositories r ON r.id = d.repo_id
			WHERE d.policy = ? AND d.at > ? AND r.installation_id = ? AND (r.id = ? OR ? = 0))`,
		policy, policy, micros(after), installation, repo, repo).
		Scan(&r.Ended, &r.Passed, timeColumn{&r.Since})
	return r, s.explain("count the tasks of policy "+policy, err)
}
