/** What decides where a table stands when several servers share the database. */
export interface TableShape {
  name: string
  /** The columns of the primary key, in order. */
  key: readonly string[]
  /** The columns of each other unique index; an expression among them is ''. */
  uniques: readonly (readonly string[])[]
  /** The tables that its foreign keys lead to. */
  references: readonly string[]
}

/**
 * Spread by the workspace: each row is on the server that has its workspace. A copy everywhere: on all servers, so that what is spread
 * may refer to it. On the coordinator alone.
 */
export type Place = { kind: 'spread'; by: string } | { kind: 'everywhere' } | { kind: 'coordinator' }

/** The columns that say whose a row is. A scope is a workspace, or the installation. */
const owners = ['workspace_id', 'scope_id']

/** Tables that the rule would spread, and why they are not. */
export const exceptions: Readonly<Record<string, { kind: 'everywhere' | 'coordinator'; why: string }>> = {
  members: {
    kind: 'everywhere',
    why: 'Found by the person, before it is known in which workspaces they are; one row for each person of a team.',
  },
  secrets: {
    kind: 'coordinator',
    why: 'A new master key wraps all of them in one transaction, under their locks; some three rows a workspace.',
  },
}

/**
 * Where each table stands. Spread is what is kept by workspace: the primary key begins with it. A unique key without the workspace can
 * only be kept where all rows are, so such a table is everywhere; it is one that is looked into before the workspace is known. So is
 * what tables that are spread or everywhere refer to, unless it is spread itself. All others are the installation's own.
 */
export function placesOf(tables: readonly TableShape[]): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const table of tables) places.set(table.name, ownPlace(table))
  const isSpread = (name: string) => places.get(name)?.kind === 'spread'
  for (let isSettled = false; !isSettled; ) {
    isSettled = true
    for (const table of tables) {
      const place = places.get(table.name)
      if (place?.kind === 'coordinator') continue
      for (const to of table.references) {
        const isFine = place?.kind === 'spread' && isSpread(to)
        if (isFine || places.get(to)?.kind === 'everywhere') continue
        places.set(to, { kind: 'everywhere' })
        isSettled = false
      }
    }
  }
  return places
}

function ownPlace({ name, key, uniques }: TableShape): Place {
  const by = owners.find((column) => key[0] === column)
  if (by === undefined) return { kind: 'coordinator' }
  const exception = exceptions[name]
  if (exception !== undefined) return { kind: exception.kind }
  return uniques.every((columns) => columns.includes(by)) ? { kind: 'spread', by } : { kind: 'everywhere' }
}
