-- +goose Up

-- Who carries a pending effect out (docs/adr/0026).
ALTER TABLE effects ADD COLUMN lease_token bigint NOT NULL DEFAULT 0;  -- grows each time it is taken: an outcome counts with the newest only
ALTER TABLE effects ADD COLUMN lease_holder text COLLATE "C" NOT NULL DEFAULT ''; -- the engine that took it last
ALTER TABLE effects ADD COLUMN lease_until bigint NOT NULL DEFAULT 0;  -- when it runs out; 0: nobody holds it
