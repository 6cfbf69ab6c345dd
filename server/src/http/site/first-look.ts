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
  rooms: Record<string, Part>
  languages: Record<string, Part>
  /** What the list of leads says, by language, and what the rooms say beyond that and the inbox. */
  list: Record<string, Part>
  rest: Record<string, Part>
}

export interface Look {
  url: string
  nonce: string
  language: string
  /** `light` or `dark` if the person has chosen, else empty. */
  scheme: string
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
export function pageFor({ page, parts }: Shell, { url, nonce, language, scheme }: Look): string {
  const place = placeOf(url)
  const files = parts === null ? [] : partsOf(parts, place, language)
  const scripts = files.flatMap((part) => part.scripts)
  const styles = files.flatMap((part) => part.styles)
  const early = [
    ...dataOf(place).map(
      (path) => `<link rel="preload" as="fetch" crossorigin href="${path.replaceAll('&', '&amp;')}">`,
    ),
    ...scripts.map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`),
  ]
  return page
    .replaceAll('%NONCE%', nonce)
    .replace('%ROOM%', place.room)
    .replace('%SCHEME%', scheme)
    .replace('<!--scripts-->', early.join('\n    '))
    .replace(
      '<!--styles-->',
      styles.map((file) => `<link rel="stylesheet" crossorigin href="/${file}">`).join('\n    '),
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

function placeOf(url: string): Place {
  const [path = '', query] = url.split('?', 2)
  const parts = path.split('/').slice(1)
  const [workspaceId = '', room = '', ...below] = parts[0] === 'w' ? parts.slice(1) : ['', ...parts]
  return {
    workspaceId: isUuid(workspaceId) ? workspaceId : null,
    room: /^[a-z]{1,20}$/.test(room) ? room : 'home',
    hasBelow: below.length > 0,
    isWhole: below.length === 0 || wide.includes(room),
    isFiltered: query !== undefined,
  }
}

function partsOf(
  { rooms, languages, list, rest }: Parts,
  { room, isWhole, hasBelow }: Place,
  language: string,
): Part[] {
  const own = isWhole ? rooms[room] : undefined
  const speaks = own !== undefined && room !== 'inbox'
  const words = [speaks && list[language], speaks && room !== 'leads' && rest[language]]
  const thread = room === 'inbox' && hasBelow ? rooms.thread : undefined
  return [languages[language], ...words, own, thread].filter((part) => part !== undefined && part !== false)
}

/** What the app is going to ask for first, in the very words: it would be fetched twice otherwise. */
function dataOf({ workspaceId, room, isFiltered }: Place): string[] {
  const session = '/api/team/v1/session'
  if (workspaceId === null || room !== 'inbox' || isFiltered) return [session]
  const own = `/api/team/v1/workspaces/${workspaceId}`
  const list = `${own}/inbox/conversations?sort=recent&view=all&limit=40&status=open`
  return [session, list, `${own}/labels`]
}
