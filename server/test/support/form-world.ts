import { randomBytes, randomUUID } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import { clientAddressReader } from '../../src/access/keys/client-address.ts'
import { createMemoryLimiter } from '../../src/access/rate-limit/rate-limit-memory.ts'
import { type ManualClock, manualClock } from '../../src/base/clock.ts'
import { forbidden } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import type { App } from '../../src/base/route.ts'
import { openVault, type Vault } from '../../src/base/sealing/vault.ts'
import { createForm } from '../../src/forms/form/change.ts'
import type { Form, FormField } from '../../src/forms/form/form.ts'
import type { NewForm } from '../../src/forms/form/schema.ts'
import { formRoutes } from '../../src/forms/routes.ts'
import { formTeamRoutes } from '../../src/forms/team-routes.ts'
import { describeApi } from '../../src/http/contract/openapi.ts'
import { createServer } from '../../src/http/server/server.ts'
import type { Lead } from '../../src/leads/lead/lead.ts'
import { leadColumns } from '../../src/leads/lead/queries.ts'
import { type LeadRow, openLead } from '../../src/leads/lead/sealed.ts'
import type { Member, Role } from '../../src/team/member.ts'
import { roleCovers } from '../../src/team/member.ts'
import { checkAnswers } from './contract/contract.ts'
import type { TestDatabase } from './database.ts'

const noon = new Date('2026-03-01T12:00:00Z')
const publicUrl = 'https://forms.example'

export const nameField: FormField = { key: 'firstName', label: 'Your name', type: 'text', required: true }

type Post<Body> = (
  slug: string,
  body: Body,
  headers?: Record<string, string>,
  remoteAddress?: string,
) => Promise<LightMyRequestResponse>

export interface FormWorld {
  app: App
  clock: ManualClock
  vault: Vault
  workspaceId: string
  member: Member
  /** Everything that was logged. */
  lines: string[]
  newForm(input?: Partial<NewForm>): Promise<Form>
  /** Posts to a form: an object as JSON, a text as it stands. */
  post: Post<object | string>
  /** Posts what was filled in, as the page of the form does. */
  send: Post<Record<string, string | string[]>>
  leads(): Promise<Lead[]>
  count(table: 'form_submissions' | 'form_quota' | 'events' | 'audit_log'): Promise<number>
  /** The token of a page just served, after the time that a person takes to fill it. */
  token(form: Form): Promise<string>
}

/** A workspace of its own, with the public and the team's routes of forms; `x-role` says who calls the latter. */
export async function formWorld(
  { db }: TestDatabase,
  options: { submissionsPerMinute?: number } = {},
): Promise<FormWorld> {
  const clock = manualClock(noon)
  const vault = openVault(db, { current: masterKey }, clock)
  const workspaceId = randomUUID()
  await db.tx(async (tx) => {
    await tx`
      insert into workspaces (id, name, default_country, created_at, updated_at)
      values (${workspaceId}, 'Test', 'BR', ${clock.now()}, ${clock.now()})`
    await vault.createSecrets(tx, workspaceId)
  })
  const lines: string[] = []
  const member = memberOf(workspaceId)
  const app = createServer({ log: createLog('debug', { write: (line: string) => lines.push(line) }), clock })
  await describeApi(app)
  // An answer against the document becomes a 500, which every test notices.
  checkAnswers(app)
  formRoutes(app, {
    db,
    vault,
    clock,
    publicUrl,
    limiter: createMemoryLimiter(clock),
    clientAddress: clientAddressReader([]),
    submissionsPerMinute: options.submissionsPerMinute ?? 10,
  })
  formTeamRoutes(app, { db, vault, clock, publicUrl }, guardFor(member))

  const post: FormWorld['post'] = (slug, body, headers = {}, remoteAddress = '127.0.0.1') =>
    app.inject({ method: 'POST', url: `/f/${slug}`, headers, body, remoteAddress })
  const ofPage = { ...formEncoded, origin: publicUrl, accept: 'text/html' }

  return {
    app,
    post,
    send: (slug, values, headers, remoteAddress) =>
      post(slug, encode(values), { ...ofPage, ...headers }, remoteAddress),
    clock,
    vault,
    workspaceId,
    member,
    lines,
    newForm: (input = {}) =>
      createForm({ db, clock }, member, { name: 'Test', title: 'Test', fields: [nameField], ...input }),
    leads: async () => {
      const keyring = await vault.keyring(workspaceId)
      const rows = await db.sql<LeadRow[]>`
        select ${leadColumns(db.sql)} from leads l where l.workspace_id = ${workspaceId} order by l.id`
      return rows.map((row) => openLead(keyring, row))
    },
    count: async (table) => {
      const scope = table === 'audit_log' ? 'scope_id' : 'workspace_id'
      const [row] = await db.sql<{ count: number }[]>`
        select count(*)::integer as count from ${db.sql(table)} where ${db.sql(scope)} = ${workspaceId}`
      return row?.count ?? 0
    },
    token: async (form) => {
      const page = await app.inject({ url: `/f/${form.slug}` })
      clock.advance(5_000)
      return tokenIn(page.body)
    },
  }
}

const masterKey = randomBytes(32)

export function tokenIn(page: string): string {
  return /name="_token" value="([^"]+)"/.exec(page)?.[1] ?? ''
}

function memberOf(workspaceId: string): Member {
  const userId = randomUUID()
  return {
    userId,
    tokenId: null,
    tokenWorkspaceId: null,
    makerId: null,
    sessionId: null,
    name: 'Test',
    isOperator: false,
    actor: { type: 'user', id: userId },
    workspaceId,
    role: 'admin',
    workspace: { defaultCountry: 'BR', leadsEnabled: true, inboxEnabled: true, inboxAvailable: true },
  }
}

function guardFor(member: Member) {
  return {
    member: (minRole: Role) => async (request: { member: Member | null; headers: Record<string, unknown> }) => {
      const role = (request.headers['x-role'] ?? 'admin') as Role
      if (!roleCovers(role, minRole)) throw forbidden(`This needs the role ${minRole}`)
      request.member = { ...member, role }
    },
  }
}

export const formEncoded = { 'content-type': 'application/x-www-form-urlencoded' }

export function encode(values: Record<string, string | string[]>): string {
  return new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
  ).toString()
}
