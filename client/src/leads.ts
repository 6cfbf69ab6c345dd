import { type Caller, type CallOptions, pathOf } from './call.ts'
import { Listing } from './listing.ts'
import type {
  BulkUpsertLeadsAnswer,
  BulkUpsertLeadsBody,
  CreateLeadAnswer,
  GetLeadAnswer,
  Lead,
  LeadChanges,
  LeadDetail,
  LeadUpsert,
  ListLeadsAnswer,
  ListLeadsQuery,
  NewLead,
  RestoreLeadAnswer,
  UpdatedLead,
  UpdateLeadAnswer,
  UpsertLeadAnswer,
} from './types.ts'

export type LeadFilter = Omit<ListLeadsQuery, 'cursor' | 'page'>
export type BulkResult = BulkUpsertLeadsAnswer['results'][number]

export interface UpsertOptions extends CallOptions {
  /** Returns what would happen, without writing. */
  dryRun?: boolean
}

const path = 'api/v1/leads'
const itemsPerCall = 100

/** Leads. An identifier is the lead's id, unique code, external reference or phone. */
export class Leads {
  readonly #call: Caller

  constructor(call: Caller) {
    this.#call = call
  }

  list(filter: LeadFilter = {}, options?: CallOptions): Listing<Lead> {
    return new Listing(async (cursor) => {
      const query = { limit: 100, ...filter, cursor }
      const call = { method: 'GET', path, query, isRepeatable: true } as const
      const { data, pagination } = await this.#call<ListLeadsAnswer>(call, options)
      return { items: data, cursor: pagination.nextCursor, total: pagination.total }
    })
  }

  async get(identifier: string, options?: CallOptions): Promise<LeadDetail> {
    const call = { method: 'GET', path: at(identifier), isRepeatable: true } as const
    return (await this.#call<GetLeadAnswer>(call, options)).data
  }

  /** Creates a lead. Not retried after an unknown result, which could create a duplicate; use an upsert to be safe. */
  async create(lead: NewLead, options?: CallOptions): Promise<Lead> {
    const call = { method: 'POST', path, body: lead, isRepeatable: false } as const
    return (await this.#call<CreateLeadAnswer>(call, options)).data
  }

  async update(identifier: string, changes: LeadChanges, options?: CallOptions): Promise<UpdatedLead> {
    const call = { method: 'PATCH', path: at(identifier), body: changes, isRepeatable: true } as const
    return (await this.#call<UpdateLeadAnswer>(call, options)).data
  }

  /** Deletes a lead; it can be restored for 30 days. */
  async delete(identifier: string, options?: CallOptions): Promise<void> {
    await this.#call({ method: 'DELETE', path: at(identifier), isRepeatable: false }, options)
  }

  async restore(id: string, options?: CallOptions): Promise<Lead> {
    const call = { method: 'POST', path: `${at(id)}/restore`, isRepeatable: false } as const
    return (await this.#call<RestoreLeadAnswer>(call, options)).data
  }

  /** Updates the lead that matches, or creates it. */
  async upsert(
    upsert: LeadUpsert,
    options: UpsertOptions = {},
  ): Promise<{ action: 'created' | 'updated'; lead: Lead }> {
    const query = { dryRun: options.dryRun }
    const call = { method: 'POST', path: `${path}/upsert`, query, body: upsert, isRepeatable: true } as const
    const { action, data } = await this.#call<UpsertLeadAnswer>(call, options)
    return { action, lead: data }
  }

  /** Upserts at most 100 leads. A failed item does not affect the others. */
  bulkUpsert(
    items: LeadUpsert[],
    options: UpsertOptions & BulkUpsertLeadsBody['options'] = {},
  ): Promise<BulkUpsertLeadsAnswer> {
    const { dryRun, continueOnError } = options
    const body: BulkUpsertLeadsBody =
      continueOnError === undefined ? { items } : { items, options: { continueOnError } }
    const query = { dryRun }
    const call = { method: 'POST', path: `${path}/bulk-upsert`, query, body, isRepeatable: true } as const
    return this.#call(call, options)
  }

  /** Upserts any number of leads, 100 per call; yields each result, with `index` counted across all calls. */
  async *upsertAll(
    upserts: Iterable<LeadUpsert> | AsyncIterable<LeadUpsert>,
    options: UpsertOptions = {},
  ): AsyncGenerator<BulkResult, void, undefined> {
    let before = 0
    for await (const items of inGroups(upserts)) {
      const { results } = await this.bulkUpsert(items, options)
      for (const result of results) yield { ...result, index: before + result.index }
      before += items.length
    }
  }
}

const at = (identifier: string): string => `${path}/${pathOf(identifier)}`

async function* inGroups<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item[], void, undefined> {
  let group: Item[] = []
  for await (const item of items) {
    if (group.push(item) < itemsPerCall) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
