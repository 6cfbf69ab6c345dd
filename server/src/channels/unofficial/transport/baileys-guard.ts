import type { Log } from '../../../base/log.ts'

const ofPackage = /[\\/]node_modules[\\/](?:baileys|libsignal)[\\/]/

let isGuarded = false

/**
 * Keeps two habits of the package from the rest of the process: it prints sessions with their keys on the console, and lets
 * promises fail that nobody waits for, which would end the process.
 */
export function guardBaileys(log: Log): void {
  if (isGuarded) return
  isGuarded = true
  for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    const print = console[name]
    console[name] = (...words: unknown[]) => {
      if (!ofPackage.test(new Error().stack ?? '')) print(...words)
    }
  }
  process.on('unhandledRejection', (reason) => {
    if (!(reason instanceof Error && ofPackage.test(reason.stack ?? ''))) throw reason
    log.warn('a session failed at something that nobody waited for', {}, reason)
  })
}
