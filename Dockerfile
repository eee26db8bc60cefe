# The image holds one static binary and the certificates it needs; it runs as nobody.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/sia ./cmd/sia && mkdir /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/sia /usr/local/bin/sia
# The database and the git mirrors; mount a volume here.
COPY --from=build --chown=65532:65532 /out/data /data
ENV SIA_DIR=/data
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["sia"]
CMD ["serve"]
