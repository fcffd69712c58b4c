# One image for all programs: `node dist/src/bin/{api,worker,wallet,migrate,admin,wallet-admin,
# ledger-verify}.js`.
# Secrets come from the environment at run time; the image contains none.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
COPY clients/typescript/src ./clients/typescript/src
COPY docs/guides ./docs/guides
RUN npm run build

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# What no program loads: Temporal's cores for other platforms, the icons in other forms, types and the maps of
# packages, and TypeScript, which a package names as a peer.
# hadolint ignore=DL3003
RUN npm ci --omit=dev --no-audit --no-fund \
  && cd node_modules \
  && find @temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
    -not -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && find lucide-static -mindepth 1 -maxdepth 1 -not -name icons -not -name package.json -exec rm -r {} + \
  && find . -type f \( -name '*.d.ts' -o -name '*.d.[cm]ts' -o -name '*.map' \) -delete \
  && rm -rf typescript viem/_types @temporalio/core-bridge/sdk-core

FROM node:24-bookworm-slim
# The Temporal SDK's native core needs the system's CA certificates. The newest are the right ones.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production \
  GATEWAY_ENV=production \
  NODE_OPTIONS=--enable-source-maps \
  WORKFLOW_BUNDLE=/app/dist/workflow-bundle.js \
  WALLET_WORKFLOW_BUNDLE=/app/dist/wallet-workflow-bundle.js
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
COPY --chmod=755 deploy/compose ./deploy/compose
# docker-compose.yml mounts a volume there, which gets this owner.
RUN install --directory --owner 1000 --group 1000 --mode 700 /settings /data
# The user "node". Kubernetes checks runAsNonRoot with a number only.
USER 1000:1000
EXPOSE 3000 3002 9464
# The check uses the port for metrics if there is one; the wallet and jobs have their own checks or
# none. A busy machine takes minutes to start everything, and Compose gives up when a program is unhealthy.
HEALTHCHECK --interval=10s --timeout=5s --start-period=180s --retries=6 \
  CMD ["/bin/sh", "-c", "exec /app/deploy/compose/healthy \"${METRICS_PORT:-${PORT:-3000}}\" /readyz"]
CMD ["node", "dist/src/bin/api.js"]
