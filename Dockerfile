# The image holds SIA, the sandbox it runs repositories' code in, and nothing that
# they need: add toolchains and agents to an image of your own, FROM this one. It
# runs as nobody. What the container must be allowed for the sandbox: docs/sandbox.md.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/sia ./cmd/sia && mkdir /out/data

FROM debian:bookworm-slim
# Bookworm's bubblewrap is 0.8. util-linux, with setpriv, unshare and prlimit, is in the base.
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap ca-certificates \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/sia /usr/local/bin/sia
# The database and the git mirrors; mount a volume here.
COPY --from=build --chown=65532:65532 /out/data /data
ENV SIA_DIR=/data
VOLUME /data
EXPOSE 8080
USER 65532:65532
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["sia", "health"]
ENTRYPOINT ["sia"]
CMD ["serve"]
