import { setTimeout as wait } from 'node:timers/promises'
import { memoryOf } from '../child.ts'
import { environmentOf } from '../database-address.ts'
import { measure, requestBytes } from '../load.ts'
import { loadWorkspace } from '../load-leads.ts'
import type { SearchStage } from './search-part.ts'

/** Unused indexes are evicted once a minute. */
const tidiedWithinMs = 70_000
const terms = ['maria', 'silva', 'gmail.com', '8817', '917', 'zzqxjkv']

/** Prints the service's memory at the start, with an index of the leads, and after that was evicted. */
export async function runMemory({ db, options, start, course }: SearchStage, leadCount: number): Promise<void> {
  const place = environmentOf(options)
  const { workspaceId, key } = await loadWorkspace(db, options, leadCount)
  const rows: [when: string, megabytes: number][] = []

  const fresh = await start('product.ts', place)
  rows.push(['after the start, nothing asked', memoryOf(fresh)])
  await fresh.stop()
  const product = await start('product.ts', { ...place, WARM: workspaceId })
  rows.push(['with the image', memoryOf(product)], ['at most while it was built', memoryOf(product, 'VmHWM')])
  for (const term of terms) {
    const bytes = requestBytes('GET', `/api/v1/leads?search=${term}`, { authorization: `Bearer ${key}` })
    const load = { host: '127.0.0.1', port: product.port, connections: 16, durationMs: course.durationMs }
    const { failures } = await measure({ ...load, request: () => bytes })
    if (failures > 0) throw new Error(`${term}: answers other than 2xx`)
  }
  rows.push(['after searches', memoryOf(product)])
  process.kill(product.pid, 'SIGUSR2')
  await wait(tidiedWithinMs)
  rows.push(['after ten minutes without a list', memoryOf(product)])

  console.log(`\n| memory of the service, ${leadCount} leads | MB |\n|---|---:|`)
  for (const [when, megabytes] of rows) console.log(`| ${when} | ${megabytes} |`)
}
