import { t } from '../../text/index.ts'

/** A status in the reader's words; those of the workspace's own making as they are spelled. */
export function statusName(status: string): string {
  const known = t.customer.statuses[status]
  if (known !== undefined) return known
  const words = status.replaceAll('_', ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
