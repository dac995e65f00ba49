# The receiver as an image: one static binary, no shell, an ordinary user.
#   docker build --tag ipn-receiver --build-arg REVISION="$(git rev-parse HEAD)" .
# Both bases are arguments, so that a mirror or a digest can be put in their place.
ARG BUILD_IMAGE=golang:1.26-bookworm
ARG RUN_IMAGE=gcr.io/distroless/static-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS=-buildvcs=false
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go build -trimpath -ldflags='-s -w' -o /ipn-receiver ./cmd/ipn-receiver

FROM ${RUN_IMAGE}
ARG REVISION=unknown
LABEL org.opencontainers.image.title="ipn-receiver" \
      org.opencontainers.image.description="Receives and keeps the instant payment notifications of a payment service" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /ipn-receiver /ipn-receiver
# Production refuses to start without a database, a signing secret and an API
# token. Inside a container the doors must listen on every address; which of
# them is published, and where, is said outside.
ENV IPN_ENV=production IPN_LISTEN=:8080 IPN_PRIVATE_LISTEN=:8081
USER 65532:65532
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 CMD ["/ipn-receiver", "healthcheck"]
ENTRYPOINT ["/ipn-receiver"]
