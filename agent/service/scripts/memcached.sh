# Starts memcached in the folder DIR.
mkdir -p "$DIR" && cd "$DIR" || exit
exec > "$DIR/log" 2>&1
set -eu
rm -rf run
mkdir run
"$BIN" -s "$DIR/run/memcached.sock" -m 64 &
until [ -S run/memcached.sock ]; do
    kill -0 $!
    sleep 0.05
done
