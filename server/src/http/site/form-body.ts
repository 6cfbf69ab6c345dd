import formbody from '@fastify/formbody'
import type { App } from '../../base/route.ts'

/** Lets the routes of this scope read what a plain HTML form sends. */
export async function readFormBodies(app: App): Promise<void> {
  await app.register(formbody, { bodyLimit: 16 * 1024 })
}

/** One field of a form; empty when it is missing or was sent twice. */
export function fieldOf(body: unknown, name: string): string {
  const value = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  return typeof value === 'string' ? value : ''
}
