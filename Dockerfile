# The steps are scripts in deploy/image: server/test/deploy/image.test.ts does all that this file says without Docker.
# No step is for one kind of processor: docker buildx build --platform linux/amd64,linux/arm64 .
FROM node:26.10.0-trixie-slim AS build
WORKDIR /opt/parley
COPY .npmrc package.json package-lock.json ./
COPY web/package.json web/
COPY deploy/image/packages.sh deploy/image/
RUN deploy/image/packages.sh
COPY . ./
# Packages of your own beside Parley's, such as the one of QR sessions: docs/operations.md.
ARG EXTRA_PACKAGES=""
RUN deploy/image/build.sh

FROM debian:trixie-slim
COPY deploy/image/base.sh /tmp/
RUN /tmp/base.sh
COPY --from=build /opt/parley /opt/parley
ENV PARLEY_HOST=0.0.0.0 PARLEY_DATA_DIR=/var/lib/parley PARLEY_DEMO=0
# By number, or Kubernetes cannot tell that it is not root.
USER 10001:10001
WORKDIR /var/lib/parley
VOLUME /var/lib/parley
EXPOSE 7007
HEALTHCHECK --interval=5s --timeout=5s --start-period=120s --retries=3 CMD ["node", "/opt/parley/bin/health.mjs"]
ENTRYPOINT ["parley"]
CMD ["serve"]
