import type { Answer, World } from '../world.ts'
import { leadPath, leadsPath } from './leads.ts'

/** Lead to create or change, and its values if nothing were sent. */
export interface Target {
  match: { by: string; value: string }
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  base: any
}

/** Result of writing one lead. */
export interface Outcome {
  /** 400 or above if refused, also in a batch. */
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  lead: any
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer
  error: any
  /** Refused fields, as paths relative to the lead. */
  issues: string[]
}

type Query = Record<string, string>

/** An operation of the leads API that accepts fields of a lead: the validation rules apply to all of them. */
export interface WritePath {
  name: string
  isUpdate: boolean
  targets(w: World, count: number): Promise<Target[]>
  /** Writes each lead to the target with the same index. */
  send(w: World, targets: readonly Target[], leads: readonly object[], query?: Query): Promise<Outcome[]>
}

/** Lead with a value in every field. */
export const fullLead = {
  ...{ uniqueCode: 'code', externalRef: 'ref', firstName: 'Marina', lastName: 'Duarte', email: 'm@example.com' },
  ...{ phone: '5581991234567', status: 'won', priority: 'high', source: 'ads', adPlatform: 'x' },
  ...{ estimatedValue: 10.5, actualValue: 20, notes: 'note' },
}

/** Lead of which only the name was sent. */
export const bareLead = {
  ...{ firstName: 'Marina', lastName: null, email: null, phone: null, notes: null, externalRef: null },
  ...{ status: 'new', priority: 'medium', source: 'other', adPlatform: null },
  ...{ assignedTo: null, estimatedValue: null, actualValue: null, deletedAt: null },
}

const newTargets = (isMatched: boolean) => async (_: World, count: number) =>
  Array.from({ length: count }, (_, n): Target => {
    const value = `new ${n}`
    const base = isMatched ? { ...bareLead, externalRef: value } : bareLead
    return { match: { by: 'externalRef', value }, base }
  })

async function existingTargets(w: World, count: number): Promise<Target[]> {
  const leads = await Promise.all(
    Array.from({ length: count }, (_, n) => w.lead({ ...fullLead, uniqueCode: `code ${n}`, externalRef: `old ${n}` })),
  )
  return leads.map((base) => ({ match: { by: 'id', value: base.id }, base }))
}

function outcomeOf(status: number, body: Answer['body'], at: string): Outcome {
  const error = status >= 400 ? body : undefined
  const issues: string[] = (error?.data?.issues ?? []).map(({ path }: { path: string }) => path.replace(at, ''))
  return { status, lead: body.data, error, issues: [...new Set(issues)] }
}

const oneByOne =
  (at: string, call: (w: World, match: Target['match'], lead: object, query: Query) => Promise<Answer>) =>
  (w: World, targets: readonly Target[], leads: readonly object[], query: Query = {}): Promise<Outcome[]> =>
    Promise.all(
      leads.map(async (lead, n) => {
        const { status, body } = await call(w, targets[n]?.match ?? { by: '', value: '' }, lead, query)
        return outcomeOf(status, body, at)
      }),
    )

const create = oneByOne('', (w, _, lead, query) =>
  w.call('POST', leadsPath, { query, body: { firstName: 'Marina', ...lead } }),
)
const update = oneByOne('', (w, { value }, lead, query) => w.call('PATCH', leadPath(value), { query, body: lead }))
const upsert = (isUpdate: boolean) =>
  oneByOne('lead.', (w, match, lead, query) => {
    const body = { match, lead: isUpdate ? lead : { firstName: 'Marina', ...lead } }
    return w.call('POST', `${leadsPath}/upsert`, { query, body })
  })

const batch =
  (isUpdate: boolean): WritePath['send'] =>
  async (w, targets, leads, query = {}) => {
    const items = leads.map((lead, n) => ({
      match: targets[n]?.match,
      lead: isUpdate ? lead : { firstName: 'Marina', ...lead },
    }))
    const { status, body } = await w.call('POST', `${leadsPath}/bulk-upsert`, { query, body: { items } })
    if (status !== 200) throw new Error(`The batch was refused: ${JSON.stringify(body)}`)
    return leads.map((_, n) => {
      const { error, lead } = body.results[n]
      return outcomeOf(error?.statusCode ?? 200, error ?? { data: lead }, `items[${n}].lead.`)
    })
  }

export const writePaths: readonly WritePath[] = [
  { name: 'create', isUpdate: false, targets: newTargets(false), send: create },
  { name: 'an upsert that creates', isUpdate: false, targets: newTargets(true), send: upsert(false) },
  { name: 'a batch that creates', isUpdate: false, targets: newTargets(true), send: batch(false) },
  { name: 'update', isUpdate: true, targets: existingTargets, send: update },
  { name: 'an upsert that updates', isUpdate: true, targets: existingTargets, send: upsert(true) },
  { name: 'a batch that updates', isUpdate: true, targets: existingTargets, send: batch(true) },
]
