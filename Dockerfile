# The sidecar image. `docker build -t registrar:v0.1.0 --build-arg VERSION=v0.1.0 .`
# The bundle is plain JavaScript, the same for every architecture: `docker buildx build --platform linux/amd64,linux/arm64,linux/ppc64le,linux/s390x .`

# Where the bundle is made, and where Node, its libraries and strip come from: Debian 13, as the other base. None of its shell and
# npm reaches the image.
ARG BUILD_IMAGE=node:26-trixie@sha256:39cff0f037088f0d8faf3e5a3ca055d653a15b66faaba8af3daf72f0102f375f
# What runs it: a C library, and no shell. That matters: a quarter of real charts carry `preStop: /bin/sh -c rm -rf ...`, some of
# it aimed at the driver's own socket, which has always failed for want of one. No OpenSSL either: Node has its own.
ARG RUNTIME_IMAGE=gcr.io/distroless/base-nossl-debian13:latest@sha256:af5cb8dd589b8520b8c06bebb9efb73d7e16406cab58e85c51761fff49d370a0

# The build runs on the builder's own architecture, not emulated.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /src
# Dependencies first: a change of sources leaves this layer as it is.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY LICENSE tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY proto proto
COPY src src
RUN npm run build
# Charts run `/csi-node-driver-registrar` by name, as `command` and in exec probes, so the kernel itself must be able to
# run it: its first line names the interpreter by absolute path, because the image has no `env` to look one up. SIGUSR1
# would open Node's inspector until the program has its own handler.
# KEP-4958 calls the same program csi-sidecars, in its manifest by name alone. World-readable, as the rest of the image.
ARG NODE_BINARY=/nodejs/bin/node
RUN mkdir -p /image/registrar \
  && cp LICENSE dist/THIRD-PARTY-LICENSES.txt /image \
  && cp -R dist/cli dist/cli.js /image/registrar \
  && sed -i "1s|^#!/usr/bin/env node\$|#!${NODE_BINARY} --disable-sigusr1|" /image/registrar/cli.js \
  && test "$(head -n 1 /image/registrar/cli.js)" = "#!${NODE_BINARY} --disable-sigusr1" \
  && chmod -R u=rwX,go=rX /image \
  && chmod 0755 /image/registrar/cli.js \
  && mkdir -p /image/usr/local/bin \
  && ln -s registrar/cli.js /image/csi-node-driver-registrar \
  && ln -s registrar/cli.js /image/csi-sidecars \
  && ln -s /registrar/cli.js /image/usr/local/bin/csi-sidecars

# Node without its symbols, which are 33 of 150 MB, and the libraries that the base lacks. Scanners find their packages in
# status.d, as those of the base.
FROM ${BUILD_IMAGE} AS node
ARG NODE_BINARY=/nodejs/bin/node
WORKDIR /node/var/lib/dpkg/status.d
RUN mkdir -p "/node$(dirname ${NODE_BINARY})" \
  && strip -o "/node${NODE_BINARY}" "$(command -v node)" \
  && cp "$(dirname "$(command -v node)")/../LICENSE" /node/nodejs/LICENSE \
  && cp -L --parents /usr/lib/*-linux-gnu/libatomic.so.1 /usr/lib/*-linux-gnu/libgcc_s.so.1 /usr/lib/*-linux-gnu/libstdc++.so.6 /node \
  && for package in libatomic1 libgcc-s1 libstdc++6; do \
    dpkg-query --status "$package" > "$package" && cp -L --parents "/usr/share/doc/$package/copyright" /node || exit 1; \
  done

# V8's code cache of what a registration runs, a third of the time of a start: made by the very Node that will read it,
# as the image is read-only when it runs.
FROM ${BUILD_IMAGE} AS cache
ARG NODE_BINARY=/nodejs/bin/node
COPY --from=node /node/nodejs /nodejs
COPY --from=build /src /src
COPY --from=build /image /image
WORKDIR /src
RUN ${NODE_BINARY} scripts/code-cache.mjs /image/registrar/cli.js \
  && chmod 0644 /image/registrar/cli/*.cache

FROM ${RUNTIME_IMAGE}
ARG VERSION=unknown
ARG REVISION=unknown
ARG SOURCE=unknown
ARG CREATED=unknown
ARG BASE_DIGEST=unknown
# The first two are what the official image has.
LABEL maintainers="The registrar authors" \
  description="CSI Node driver registrar" \
  org.opencontainers.image.title="registrar" \
  org.opencontainers.image.description="Registers a CSI driver with kubelet and keeps it registered" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.vendor="The registrar authors" \
  org.opencontainers.image.url="${SOURCE}" \
  org.opencontainers.image.created="${CREATED}" \
  org.opencontainers.image.base.digest="${BASE_DIGEST}" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}"
COPY --from=node /node /
COPY --from=cache /image /
# Root: kubelet's plugins_registry belongs to root with mode 0750, and so does most drivers' socket. Nearly every chart
# relies on the image for that.
USER 0:0
ENTRYPOINT ["/csi-node-driver-registrar"]
