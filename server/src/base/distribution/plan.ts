import type { PlacedTable, Reference } from './tables.ts'

/** A foreign key that was taken away, as it is to be put back. */
export interface ForeignKey extends Reference {
  name: string
  definition: string
}

/** One transaction of the way from one server to several. */
export type Step =
  | { kind: 'take keys away'; tables: string[] }
  | { kind: 'copy everywhere'; table: string; rows: number; bytes: number }
  | { kind: 'spread'; table: string; by: string; beside: string | null; rows: number; bytes: number }
  | { kind: 'clear'; table: string; bytes: number }
  | { kind: 'put key back'; key: ForeignKey }
  | { kind: 'end' }

export interface State {
  tables: readonly PlacedTable[]
  /** Those that were taken away; null where nothing is under way. */
  keys: readonly ForeignKey[] | null
}

/**
 * What is still to be done, in its order: nothing where every table stands in its place. It follows from what there is, so that whoever
 * was stopped half-way goes on there. Foreign keys are away meanwhile: none may lead from a server's own table to one that is
 * spread. Small tables go first, so that what is wrong is found soon.
 */
export function planOf({ tables, keys }: State): Step[] {
  const toTurn = tables.filter(({ place, kind }) => place.kind !== 'coordinator' && kind !== place.kind)
  const bySize = toTurn.toSorted((a, b) => a.bytes - b.bytes)
  const names = new Set(toTurn.map(({ name }) => name))
  const isInTheWay = tables.some(({ name, references }) => references.some((to) => names.has(name) || names.has(to)))
  const steps: Step[] = []
  if (isInTheWay) steps.push({ kind: 'take keys away', tables: [...names] })
  for (const { name: table, place, rows, bytes } of bySize) {
    if (place.kind === 'everywhere') steps.push({ kind: 'copy everywhere', table, rows, bytes })
  }
  let beside = tables.find(({ kind }) => kind === 'spread')?.name ?? null
  for (const { name: table, place, rows, bytes } of bySize) {
    if (place.kind !== 'spread') continue
    steps.push({ kind: 'spread', table, by: place.by, beside, rows, bytes })
    beside ??= table
  }
  for (const { name: table, place, bytes, hasRows } of tables) {
    if (place.kind !== 'coordinator' && hasRows) steps.push({ kind: 'clear', table, bytes })
  }
  for (const key of keys ?? []) steps.push({ kind: 'put key back', key })
  if (keys !== null || isInTheWay) steps.push({ kind: 'end' })
  return steps
}
