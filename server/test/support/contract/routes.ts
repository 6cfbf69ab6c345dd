import type { RouteOptions } from 'fastify'
import { appWithoutDatabase } from '../../../../scripts/contract.ts'
import { oncePerFile } from '../file-lifecycle.ts'

/** Returns every registered route of the app. */
export const allRoutes: () => Promise<RouteOptions[]> = oncePerFile(async () => {
  const routes: RouteOptions[] = []
  const app = await appWithoutDatabase((server) => {
    server.addHook('onRoute', (route) => void routes.push(route))
  })
  await app.close()
  return routes
})
