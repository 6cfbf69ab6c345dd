import { createGuard } from './access/guard.ts'
import type { Limiter } from './access/rate-limit.ts'
import type { Clock } from './base/clock.ts'
import type { Db } from './base/db.ts'
import type { Log } from './base/log.ts'
import type { App } from './base/route.ts'
import type { Vault } from './base/vault.ts'
import type { Config } from './config.ts'
import { serveHealth } from './http/health.ts'
import { describeApi } from './http/openapi.ts'
import { serveReference } from './http/reference.ts'
import { createServer } from './http/server.ts'
import { leadRoutes } from './leads/routes.ts'

/** What the rooms stand on, opened by whoever runs the app and closed by them after it. */
export interface House {
  config: Config
  log: Log
  clock: Clock
  db: Db
  vault: Vault
  limiter: Limiter
}

/** Puts every room's routes on one server. `watch` sees the server before its first route: tests check answers there. */
export async function buildApp(house: House, watch: (app: App) => void = () => {}): Promise<App> {
  const { config, log, clock, db, vault, limiter } = house
  const guard = await createGuard({
    db,
    clock,
    limiter,
    limits: config.limits,
    trustedProxies: config.http.trustedProxies,
  })
  const app = createServer({
    log,
    clock,
    isHttps: config.http.publicUrl.startsWith('https:'),
    keyIdOf: (request) => request.caller?.keyId,
  })
  app.addHook('onClose', () => guard.close())
  await describeApi(app)
  watch(app)

  serveReference(app, config.http.publicUrl)
  serveHealth(app, () => db.sql`select 1`)
  leadRoutes(app, { db, vault, clock }, guard)
  return app
}
