import { createZoneFormat, localDateAt } from '../base/time.ts'

/**
 * What is counted: conversations that began, were closed or opened again, first answers, cases of agents that ended, how
 * satisfied customers were, and leads.
 */
export const factKinds = ['new', 'closed', 'reopened', 'answer', 'case', 'rating', 'lead'] as const
export type FactKind = (typeof factKinds)[number]

/** Something that reports count, once. */
export interface Fact {
  kind: FactKind
  /** Of the message, activity, conversation or lead that it was made of. */
  id: string
  /** The conversation or lead. */
  subjectId: string
  at: Date
  /** Day in the time zone of the workspace. */
  day: string
  outcome: string
  connectionId: string | null
  teamId: string | null
  userId: string | null
  keyId: string | null
  /** Source of the lead; of a conversation, that of the customer's lead. */
  source: string | null
  /** Campaign that first brought that lead. */
  campaignId: string | null
  labelIds: string[]
  /** Milliseconds, or hundredths of the currency of a lead; null: none. */
  value: number | null
}

/** A number can be limited to one value of a dimension, or shown for each. */
export const dimensions = ['connection', 'team', 'person', 'key', 'label', 'source', 'campaign'] as const
export type Dimension = (typeof dimensions)[number]

/** What one dimension and day have of a kind of fact. */
export interface Rollup {
  dimension: Dimension | 'all'
  day: string
  /** '' with `all`. */
  dimensionId: string
  kind: string
  outcome: string
  bucket: number
  count: number
  total: number
}

/** Bucket of what is no time. */
export const noBucket = -1
const base = 1.1

/** Returns the power of 1.1 seconds that is the last one up to this time; all times below a second are in the first. */
export const bucketOf = (ms: number): number => Math.max(0, Math.floor(Math.log(ms / 1000) / Math.log(base)))

/** Returns the time in the middle of a bucket: at most 5 % off. */
export const secondsOf = (bucket: number): number => Math.round(base ** (bucket + 0.5) * 10) / 10

const timed: readonly FactKind[] = ['answer', 'closed']

/** Returns what the facts add to the sums, in the order of the primary key. Added twice with -1, it takes them away again. */
export function rollupsOf(facts: readonly Fact[], sign: 1 | -1 = 1): Rollup[] {
  const sums = new Map<string, Rollup>()
  for (const fact of facts) {
    const { day, kind, outcome, value } = fact
    const bucket = timed.includes(kind) && value !== null ? bucketOf(value) : noBucket
    for (const [dimension, dimensionId] of placesOf(fact)) {
      const key = [dimension, day, dimensionId, kind, outcome, bucket].join(' ')
      const sum = sums.get(key) ?? { dimension, day, dimensionId, kind, outcome, bucket, count: 0, total: 0 }
      sum.count += sign
      sum.total += sign * (value ?? 0)
      sums.set(key, sum)
    }
  }
  return sortRollups([...sums.values()])
}

/** Adds up sums of equal keys, and leaves out those that cancel each other. */
export function addRollups(rollups: readonly Rollup[]): Rollup[] {
  const byKey = Map.groupBy(rollups, ({ dimension, day, dimensionId, kind, outcome, bucket }) =>
    [dimension, day, dimensionId, kind, outcome, bucket].join(' '),
  )
  const sums = [...byKey.values()].flatMap(([first, ...others]): Rollup[] => {
    if (first === undefined) return []
    const all = [first, ...others]
    const count = all.reduce((sum, one) => sum + one.count, 0)
    const total = all.reduce((sum, one) => sum + one.total, 0)
    return count === 0 && total === 0 ? [] : [{ ...first, count, total }]
  })
  return sortRollups(sums)
}

// Rows are always locked in the same order.
const sortRollups = (rollups: Rollup[]): Rollup[] => {
  const keyOf = (one: Rollup) =>
    [one.dimension, one.day, one.dimensionId, one.kind, one.outcome, String(one.bucket + 1).padStart(4, '0')].join(' ')
  return rollups
    .map((one) => [keyOf(one), one] as const)
    .sort(byFirst)
    .map(([, one]) => one)
}

const byFirst = ([a]: readonly [string, Rollup], [b]: readonly [string, Rollup]): number => (a < b ? -1 : 1)

function placesOf({
  connectionId,
  teamId,
  userId,
  keyId,
  source,
  campaignId,
  labelIds,
}: Fact): [Dimension | 'all', string][] {
  const one = (dimension: Dimension, id: string | null): [Dimension, string][] => (id === null ? [] : [[dimension, id]])
  return [
    ['all', ''],
    ...one('connection', connectionId),
    ...one('team', teamId),
    ...one('person', userId),
    ...one('key', keyId),
    ...one('source', source),
    ...one('campaign', campaignId),
    ...labelIds.map((id): [Dimension, string] => ['label', id]),
  ]
}

export const dayOf = (timeZone: string, at: Date): string => localDateAt(createZoneFormat(timeZone), at.getTime())

/** Returns whether both say the same. */
export const isSameFact = (a: Fact, b: Fact): boolean => textOf(a) === textOf(b)

const textOf = ({ at, labelIds, ...fact }: Fact): string =>
  JSON.stringify([at.getTime(), [...labelIds].sort(), ...Object.entries(fact).sort(([a], [b]) => (a < b ? -1 : 1))])
