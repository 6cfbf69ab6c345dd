import { readFileSync } from 'node:fs'

/**
 * Keeps V8's space of young objects from growing. It grows with any work, up to a bound of its own, and by how much a few seconds of it
 * have grown the space says nothing of what files take.
 */
export const smallYoungSpace = '--max-semi-space-size=2'

/**
 * What a process has taken for itself, in bytes. The pages of the program that the system has read meanwhile are in its resident
 * size too, several megabytes of them where others have pushed them out before; they are in nobody's way.
 */
export function memoryOf(pid: number | 'self'): number {
  if (process.platform !== 'linux' && pid === 'self') return process.memoryUsage.rss()
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1])
}
