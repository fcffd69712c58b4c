# One image for all programs: `node dist/src/bin/{api,worker,wallet,migrate,admin,wallet-admin,
# ledger-verify}.js`.
# Secrets come from the environment at run time; the image contains none.
FROM node:20-bookworm-slim AS build
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

FROM node:20-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:20-bookworm-slim
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
# The user "node". Kubernetes checks runAsNonRoot with a number only.
USER 1000:1000
EXPOSE 3000 3002 9464
# The check uses the port for metrics if there is one; the wallet and jobs have their own checks or
# none.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=6 \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:' + (process.env.METRICS_PORT || process.env.PORT || 3000) + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/bin/api.js"]
