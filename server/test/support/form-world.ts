import assert from 'node:assert/strict'
import type { LightMyRequestResponse } from 'fastify'
import type { Form } from '../../src/forms/form/form.ts'
import type { FormField, NewForm } from '../../src/forms/form/schema.ts'
import type { Lead } from '../../src/leads/lead/lead.ts'
import { leadsPath } from './leads/leads.ts'
import { testTeamToken, type World, world } from './world.ts'

export const nameField: FormField = { key: 'firstName', label: 'Your name', type: 'text', required: true }

type Post<Body> = (
  slug: string,
  body: Body,
  headers?: Record<string, string>,
  remoteAddress?: string,
) => Promise<LightMyRequestResponse>

export interface FormWorld extends World {
  newForm(input?: Partial<NewForm>): Promise<Form>
  /** Posts to a form, from a new address by default: an object as JSON, a text unchanged. */
  post: Post<object | string>
  /** Posts form fields as the form's page does. */
  send: Post<Record<string, string | string[]>>
  /** Returns every live lead with all fields, oldest first. */
  leads(): Promise<Lead[]>
  count(table: 'form_submissions' | 'form_quota' | 'events' | 'audit_log'): Promise<number>
  /** Returns the token of a newly served page, after the time that a person needs to fill in the form. */
  token(form: Form): Promise<string>
}

let posts = 0

export async function formWorld(): Promise<FormWorld> {
  const w = await world({ defaultCountry: 'BR' })
  const { app, call, clock, config, db, workspaceId } = w
  const fresh = () => `198.18.${++posts >> 8}.${posts % 256}`
  const post: FormWorld['post'] = (slug, body, headers = {}, remoteAddress = fresh()) =>
    app.inject({ method: 'POST', url: `/f/${slug}`, headers, body, remoteAddress })
  const ofPage = { ...formEncoded, origin: config.http.publicUrl, accept: 'text/html' }
  return {
    ...w,
    post,
    send: (slug, values, headers, remoteAddress) =>
      post(slug, encode(values), { ...ofPage, ...headers }, remoteAddress),
    newForm: async (input = {}) => {
      const body = { name: 'Test', title: 'Test', fields: [nameField], ...input }
      const made = await call('POST', `/api/team/v1/workspaces/${workspaceId}/forms`, { key: testTeamToken, body })
      assert.equal(made.status, 201, JSON.stringify(made.body))
      return made.body.form
    },
    leads: async () => {
      const { data } = (await call('GET', leadsPath, { query: { sortOrder: 'asc' } })).body
      const whole = data.map(({ id }: { id: string }) => call('GET', `${leadsPath}/${id}`))
      return (await Promise.all(whole)).map(({ body }) => body.data)
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

/** Creates a form with these fields, and submits it. */
export async function fillForm(w: World, fields: Partial<FormField>[], body: Record<string, string>): Promise<void> {
  const whole = fields.map((field) => ({ label: field.key, type: 'text', required: false, ...field }))
  const form = { name: 'Contact', title: 'Contact', fields: [nameField, ...whole] }
  const path = `/api/team/v1/workspaces/${w.workspaceId}/forms`
  const made = await w.call('POST', path, { key: testTeamToken, body: form })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const sent = await w.call('POST', `/f/${made.body.form.slug}`, { body })
  assert.ok(sent.status < 300, JSON.stringify(sent.body))
}

export function tokenIn(page: string): string {
  return /name="_token" value="([^"]+)"/.exec(page)?.[1] ?? ''
}

export const formEncoded = { 'content-type': 'application/x-www-form-urlencoded' }

export function encode(values: Record<string, string | string[]>): string {
  return new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
  ).toString()
}
