import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid } from '../../base/id.ts'

/** The page as it was built, and which files each room needs beyond it. */
export interface Shell {
  page: string
  parts: Parts | null
}

interface Part {
  scripts: string[]
  styles: string[]
}

interface Parts {
  /** What the frame says in each language. */
  languages: Record<string, Part>
  /** What each room needs and says, in each language. */
  rooms: Record<string, Record<string, Part>>
}

export interface Look {
  url: string
  nonce: string
  language: string
  /** `light` or `dark` if the person has chosen, else empty. */
  scheme: string
  /** That of the browser, once the app has told; else empty. */
  timeZone: string
}

/** The built page; null when there is none. */
export async function readShell(folder: string): Promise<Shell | null> {
  const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => null)
  const [page, parts] = await Promise.all([read('index.html'), read('first-look.json')])
  return page === null ? null : { page, parts: parts === null ? null : JSON.parse(parts) }
}

/**
 * The page for an address: it shows the shape of the room and has all on the way that the room's first look takes, code and
 * data, which would else be asked for one after the other.
 */
export function pageFor({ page, parts }: Shell, { url, nonce, language, scheme, timeZone }: Look): string {
  const place = placeOf(url)
  const files = parts === null ? [] : partsOf(parts, place, language)
  const scripts = new Set(files.flatMap((part) => part.scripts))
  const styles = new Set(files.flatMap((part) => part.styles))
  const early = [
    ...dataOf(place, timeZone).map(
      (path) => `<link rel="preload" as="fetch" crossorigin href="${path.replaceAll('&', '&amp;')}">`,
    ),
    ...[...scripts].map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`),
  ]
  return page
    .replaceAll('%NONCE%', nonce)
    .replace('%ROOM%', place.room)
    .replace('%SCHEME%', scheme)
    .replace('<!--scripts-->', early.join('\n    '))
    .replace(
      '<!--styles-->',
      [...styles].map((file) => `<link rel="stylesheet" crossorigin href="/${file}">`).join('\n    '),
    )
}

interface Place {
  workspaceId: string | null
  room: string
  /** Whether it is the room's own page rather than one below it. */
  isWhole: boolean
  /** Whether the address names something in the room. */
  hasBelow: boolean
  isFiltered: boolean
}

/** One page shows whatever is below them. */
const wide = ['inbox', 'settings']

/** Where nobody is signed in yet. */
const entries = ['sign-in', 'invite', 'choose-password']

function placeOf(url: string): Place {
  const [path = '', query] = url.split('?', 2)
  const parts = path.split('/').slice(1)
  if (entries.includes(parts[0] ?? '')) {
    return { workspaceId: null, room: 'entry', hasBelow: false, isWhole: true, isFiltered: false }
  }
  const [workspaceId = '', room = '', ...below] = parts[0] === 'w' ? parts.slice(1) : ['', ...parts]
  return {
    workspaceId: isUuid(workspaceId) ? workspaceId : null,
    room: /^[a-z]{1,20}$/.test(room) ? room : 'home',
    hasBelow: below.length > 0,
    isWhole: below.length === 0 || wide.includes(room),
    isFiltered: query !== undefined,
  }
}

function partsOf({ rooms, languages }: Parts, { room, isWhole, hasBelow }: Place, language: string): Part[] {
  const own = isWhole ? rooms[room] : undefined
  const thread = room === 'inbox' && hasBelow ? rooms.thread : undefined
  return [languages, own, thread].map((part) => part?.[language]).filter((part) => part !== undefined)
}

const timeZoneShape = /^[\w+/-]{1,64}$/

/** What the app is going to ask for first, in the very words: it would be fetched twice otherwise. */
function dataOf({ workspaceId, room, isFiltered, hasBelow }: Place, timeZone: string): string[] {
  const session = '/api/team/v1/session'
  if (room === 'entry') return []
  if (workspaceId === null || isFiltered) return [session]
  const own = `/api/team/v1/workspaces/${workspaceId}`
  if (room === 'inbox') {
    return [session, `${own}/inbox/conversations?sort=recent&view=all&limit=40&status=open`, `${own}/labels`]
  }
  if (hasBelow) return [session]
  if (room === 'leads') return [session, `${own}/leads?sortBy=createdAt&sortOrder=desc&limit=100&page=1`]
  // Days are the reader's.
  const isCounted = room === 'home' && timeZoneShape.test(timeZone)
  return isCounted ? [session, `${own}/stats?days=30&tz=${encodeURIComponent(timeZone)}`] : [session]
}
