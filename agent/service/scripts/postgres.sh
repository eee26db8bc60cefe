# Starts PostgreSQL in the folder DIR. It is killed with its sandbox. Committed data survives that, since the system has
# received it, but not a crash of the machine.
mkdir -p "$DIR" && cd "$DIR" || exit
exec > "$DIR/log" 2>&1
set -eu
umask 077
if [ ! -e made ]; then
    rm -rf data
    printf '%s\n' "$PASSWORD" > password
    "$BIN/initdb" -D data -U "$SUPERUSER" -A "$AUTH" --pwfile=password -E UTF8 --locale=C.UTF-8 --no-sync
    if [ -n "$CREATE" ]; then
        printf '%s\n' "$CREATE" | "$BIN/postgres" --single -D data -c fsync=off postgres
    fi
    if [ -n "${EXTENSION:-}" ]; then
        printf 'CREATE EXTENSION %s\n' "$EXTENSION" | "$BIN/postgres" --single -D data -c fsync=off "$DATABASE"
    fi
    : > made
fi
rm -rf run data/postmaster.pid # of a server that was killed, whose number another process may have now
mkdir run
"$BIN/postgres" -D data -k "$DIR/run" -p 5432 -c listen_addresses= -c fsync=off -c max_connections=200 \
    -c shared_buffers=64MB -c max_wal_size=256MB &
until "$BIN/pg_isready" -q -h "$DIR/run" -p 5432; do
    kill -0 $!
    sleep 0.1
done
