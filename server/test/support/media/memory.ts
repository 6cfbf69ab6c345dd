import { readFileSync } from 'node:fs'

/**
 * What a process has taken for itself, in bytes. The pages of the program that the system has read meanwhile are in its resident
 * size too, several megabytes of them where others have pushed them out before; they are in nobody's way.
 */
export function memoryOf(pid: number | 'self'): number {
  if (process.platform !== 'linux' && pid === 'self') return process.memoryUsage.rss()
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1])
}
