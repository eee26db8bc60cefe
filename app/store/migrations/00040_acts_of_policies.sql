-- +goose Up

-- Who froze a policy, and who shared a lesson, is kept when the policy is frozen again, or the lesson is shared no more.
INSERT INTO acts (at, by_login, what, repo_id, detail)
    SELECT at, CASE by_login WHEN '' THEN 'sia' WHEN 'whoever runs the server' THEN 'operator' ELSE by_login END,
        'hold policy', place_id, name || ': ' || why FROM policy_holds ORDER BY at, place_id, name;
INSERT INTO acts (at, by_login, what, repo_id, detail)
    SELECT at, CASE approved_by WHEN 'whoever runs the server' THEN 'operator' ELSE approved_by END,
        'share lesson', 0, id FROM shared_lessons ORDER BY at, id;
