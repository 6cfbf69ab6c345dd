import { randomInt } from 'node:crypto'

/** A slug that reads like the title, with enough chance behind it to be free. */
export function makeSlug(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-|-$/g, '')
  const chance = randomInt(36 ** 6)
    .toString(36)
    .padStart(6, '0')
  return words === '' ? `form-${chance}` : `${words}-${chance}`
}
